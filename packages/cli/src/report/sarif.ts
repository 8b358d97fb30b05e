// The report as SARIF 2.1.0, which code scanning services read.
import { RULES, type RuleId, type Severity } from '@millrace/protocol'
import { pathToFileURL } from 'node:url'
import { isAbsolute } from 'node:path'
import { fileLine, placeOf, type CheckReport, type Finding } from './check-report.ts'

const LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' }

export function toSarif(report: CheckReport, version: string): string {
  const ids = [...new Set(report.diagnostics.map(({ rule }) => rule))].sort()
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'millrace', semanticVersion: version, rules: ids.map(describe) } },
        columnKind: 'utf16CodeUnits',
        results: report.diagnostics.map((finding) => result(report, finding, ids.indexOf(finding.rule))),
      },
    ],
  }
  return `${JSON.stringify(log, null, 2)}\n`
}

function describe(id: RuleId): object {
  const { title, explanation, severity, source } = RULES[id]
  return {
    id,
    shortDescription: { text: title },
    fullDescription: { text: `${title} (${source}).` },
    help: { text: explanation },
    defaultConfiguration: { level: LEVELS[severity] },
  }
}

function result(report: CheckReport, finding: Finding, ruleIndex: number): object {
  const { rule, severity, message, event, type, pointer, related, stream } = finding
  const line = fileLine(report, finding)
  return {
    ruleId: rule,
    ruleIndex,
    level: LEVELS[severity],
    message: { text: message },
    locations: [
      {
        ...(report.file !== undefined && {
          physicalLocation: {
            artifactLocation: { uri: uriOf(report.file) },
            ...(line !== undefined && { region: { startLine: line } }),
          },
        }),
        logicalLocations: [{ fullyQualifiedName: placeOf(finding) }],
      },
    ],
    properties: { event, type, pointer, related, stream },
  }
}

/** A relative path stays relative, so that services find it in the repository. */
function uriOf(file: string): string {
  if (isAbsolute(file)) return pathToFileURL(file).href
  return encodeURI(file.replaceAll('\\', '/').replace(/^\.\//, '')).replace(/[?#]/g, encodeURIComponent)
}
