// `millrace check`: everything that is wrong with a stream, in one of five forms. Goes on after a violation.
import { DEFAULT_LIMITS } from '@millrace/protocol'
import { Option, type Command } from 'commander'
import { readThread } from '../input/read-thread.ts'
import type { Source } from '../input/source.ts'
import type { CheckReport, Finding } from '../report/check-report.ts'
import { toGithub } from '../report/github.ts'
import { toJson } from '../report/json.ts'
import { toJunit } from '../report/junit.ts'
import { toSarif } from '../report/sarif.ts'
import { toText } from '../report/text.ts'
import { parseRules, withLevel, type RuleLevels } from '../rule-options.ts'
import type { Terminal } from '../terminal.ts'
import { version } from '../version.ts'
import { collect, openInput, withInput, type InputOptions } from './input-options.ts'
import { parseCount } from './numbers.ts'

interface CheckOptions extends InputOptions {
  readonly json?: true
  readonly sarif?: true
  readonly junit?: true
  readonly github?: true
  readonly rule: string[]
  readonly maxWarnings?: number
}

const FORMS = ['json', 'sarif', 'junit', 'github'] as const

export function addCheck(program: Command, terminal: Terminal): void {
  const command = withInput(program.command('check').description('say which rules of AG-UI 1.0 a stream breaks, and where'))
  for (const form of FORMS) {
    const others = FORMS.filter((other) => other !== form)
    command.addOption(new Option(`--${form}`, FORM_HELP[form]).conflicts([...others]))
  }
  command
    .addOption(
      new Option('--rule <ID=SEVERITY>', 'change a rule: error, warning, info or off; may be repeated')
        .argParser(collect)
        .default([], 'as defined'),
    )
    .addOption(new Option('--max-warnings <N>', 'more warnings than this are an error').argParser(parseCount))
    .addHelpText(
      'after',
      `
Examples:
  $ millrace check run.sse
  $ curl -sN -d @input.json https://example.com/agent | millrace check -
  $ millrace check https://example.com/agent --message 'Hi' --header 'Authorization: Bearer …'
  $ millrace check run.ndjson --json --rule event.unknown-field=off

Exit status: 0 clean, 1 findings of severity error, 2 the input could not be checked.`,
    )
    .action(async (input: string, options: CheckOptions) => {
      const levels = parseRules(options.rule)
      const report = await check(await openInput(input, options), options, levels)
      const { errors, warnings } = report.summary
      const tooMany = options.maxWarnings !== undefined && warnings > options.maxWarnings
      process.exitCode = errors > 0 || tooMany ? 1 : 0
      terminal.out(render(report, options, terminal))
      if (tooMany) terminal.err(`millrace: ${warnings} warnings are more than --max-warnings ${options.maxWarnings}\n`)
    })
}

const FORM_HELP: Readonly<Record<(typeof FORMS)[number], string>> = {
  json: 'print one JSON object',
  sarif: 'print SARIF 2.1.0, for code scanning',
  junit: 'print JUnit XML, for the test report of a CI',
  github: 'print GitHub workflow commands, which annotate a pull request',
}

export async function check(source: Source, options: Pick<CheckOptions, 'format'>, levels: RuleLevels): Promise<CheckReport> {
  const diagnostics: Finding[] = []
  const summary = { errors: 0, warnings: 0, infos: 0 }
  const result = await readThread(source, {
    mode: 'report',
    hygiene: true,
    format: options.format,
    onFinding: (found) => {
      const finding = withLevel(found, levels)
      if (finding === undefined) return
      summary[`${finding.severity}s`] += 1
      if (diagnostics.length < DEFAULT_LIMITS.diagnostics) diagnostics.push(finding)
    },
  })
  return {
    name: source.name,
    ...(source.file !== undefined && { file: source.file }),
    format: result.format,
    events: result.events,
    runs: result.thread.runs.map(({ threadId, runId, outcome, error }) => ({
      ...(threadId !== undefined && { threadId }),
      ...(runId !== undefined && { runId }),
      // A run that another one cut short was never ended: the input is over.
      outcome: outcome === 'running' ? 'truncated' : outcome,
      ...(error !== undefined && { error: error.message }),
    })),
    diagnostics,
    summary,
  }
}

function render(report: CheckReport, options: CheckOptions, terminal: Terminal): string {
  if (options.json) return toJson(report)
  if (options.sarif) return toSarif(report, version)
  if (options.junit) return toJunit(report)
  if (options.github) return toGithub(report)
  return toText(report, terminal.colours)
}
