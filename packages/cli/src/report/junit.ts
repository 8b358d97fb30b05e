// The report as JUnit XML: a test case for each run and each finding, so that a CI shows them in its list of tests.
import { placeOf, type CheckReport, type CheckedRun, type Finding } from './check-report.ts'

export function toJunit(report: CheckReport): string {
  const cases = [...report.runs.map(runCase), ...report.diagnostics.map((finding) => findingCase(report, finding))]
  // A test suite without a test case reads as “nothing was run”.
  if (cases.length === 0) cases.push('    <testcase classname="stream" name="stream"/>')
  const counts = `tests="${cases.length}" failures="${report.diagnostics.filter(isFailure).length}" errors="0"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="millrace check" ${counts}>`,
    `  <testsuite name="${escape(report.name)}" ${counts} skipped="0">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function isFailure(finding: Finding): boolean {
  return finding.severity === 'error'
}

function runCase({ runId, outcome }: CheckedRun): string {
  return `    <testcase classname="run" name="${escape(`${runId ?? 'run'}: ${outcome}`)}"/>`
}

function findingCase(report: CheckReport, finding: Finding): string {
  const place = placeOf(finding)
  const line = finding.line === undefined ? '' : `line ${finding.line}, `
  const text = escape(`${report.name}: ${line}${place}\n${finding.message}`)
  const body = isFailure(finding)
    ? `<failure type="${escape(finding.rule)}" message="${escape(finding.message)}">${text}</failure>`
    : `<system-out>${escape(finding.severity)}: ${text}</system-out>`
  return `    <testcase classname="${escape(finding.rule)}" name="${escape(place)}">${body}</testcase>`
}

/** XML has no way to write most control characters, nor half of a surrogate pair: they become U+FFFD. */
function escape(text: string): string {
  return text
    .replace(/[\p{Surrogate}\p{Cc}\ufffe\uffff]/gu, (char) => (/[\t\n\r\u0080-\u009f]/.test(char) ? char : '\ufffd'))
    .replace(/[&<>"'\n\r\t]/g, (char) => `&#${char.charCodeAt(0)};`)
}
