// How every package is built: ESM for ES2022, declarations by isolatedDeclarations (so packages build in any
// order), and nothing from node_modules ever bundled.

/** A published library. @param {import('tsdown').UserConfig} options @returns {import('tsdown').UserConfig} */
export const library = (options = {}) => ({
  entry: ['src/index.ts'],
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  fixedExtension: false,
  dts: { oxc: true },
  deps: { skipNodeModulesBundle: true },
  ...options,
})

/** A program for Node: no declarations. @param {import('tsdown').UserConfig} options @returns {import('tsdown').UserConfig} */
export const program = (options = {}) => library({ platform: 'node', dts: false, ...options })
