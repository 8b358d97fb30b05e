// React 18 and what belongs to it, as found from here.
module.exports = { react: require('react'), client: require('react-dom/client'), server: require('react-dom/server') }
