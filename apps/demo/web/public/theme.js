// Runs before the first paint, so that a remembered theme does not flash. A file of its own: the page's policy allows no inline script.
try {
  var theme = localStorage.getItem('millrace-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage may be forbidden; then the system's theme it is.
}
