/**
 * The text of one message, read as the value that the agent was asked for: while it streams, in the end, and from storage. It
 * knows no events and no messages; which text is one is decided in `outputs.ts`.
 */
import { PartialJson, type RunOutcome, type StructuredOutputPart, type TextPart } from '@millrace/protocol'
import { checkedBy, type Checked } from '../tools/standard-schema.ts'
import type { OutputSchema } from '../tools/tool-types.ts'
import { OutputError } from './output-error.ts'

/** The whole answer as the server told it. */
export interface ToldOutput {
  readonly object: unknown
  /** Its text; empty if the server did not say. */
  readonly raw: string
  readonly reasoning?: string
}

/** What it came to. */
type Verdict =
  | { readonly status: 'complete'; readonly data?: unknown }
  | { readonly status: 'error'; readonly errorMessage: string; readonly error?: OutputError }

export interface OutputTextPlan {
  readonly messageId: string
  /** The run that says it; undefined for one that was stored. */
  readonly runId: string | undefined
  /** The server said that it is one: then it is shown as one from the start, else as soon and as long as it may be JSON. */
  readonly announced: boolean
  /** Schema at the time when it is whole. */
  schema(): OutputSchema | undefined
  /** Its schema is one that takes its time, and is done. */
  onSettled(): void
}

export class OutputText {
  readonly messageId: string
  readonly runId: string | undefined
  readonly #plan: OutputTextPlan
  /** Follows the text by its deltas, so that none of it is looked at twice. */
  #json = new PartialJson()
  /** Units of text that it was given. */
  #length = 0
  #told: ToldOutput | undefined
  /** The agent called a tool after it: then it was no answer. */
  #passed = false
  /** A schema is at work; another object for each time. */
  #judging: object | undefined
  #verdict: Verdict | undefined
  /** The text that the verdict is on, if it is on one. */
  #judged: string | undefined
  #shown: { readonly text: TextPart; readonly verdict: Verdict | undefined; readonly part: StructuredOutputPart } | undefined

  constructor(plan: OutputTextPlan) {
    this.#plan = plan
    this.messageId = plan.messageId
    this.runId = plan.runId
  }

  /** One that was stored. It keeps its status; data is made of its text anew, since JSON keeps less than a schema may make. */
  static restored(plan: OutputTextPlan, part: StructuredOutputPart): OutputText {
    const { status, raw, data, errorMessage = '', reasoning } = part
    const output = new OutputText(plan)
    if (status === 'error') output.#verdict = { status, errorMessage }
    if (status !== 'complete') return output
    output.#verdict = { status }
    const object = wholeJson(raw)?.value ?? data
    output.#told = { object, raw, ...(reasoning !== undefined && { reasoning }) }
    output.#check(object, (checked) => {
      if (checked.wrong === undefined) output.#verdict = { status, data: checked.value }
    })
    return output
  }

  get announced(): boolean {
    return this.#plan.announced
  }

  grow(delta: string): void {
    this.#json.append(delta)
    this.#length += delta.length
    this.#passed = false
  }

  /** A call of a tool begins; text that comes in the same message after it is another one. */
  pass(): void {
    this.#json = new PartialJson()
    this.#length = 0
    this.#passed = true
  }

  /** The server said what it is in the end. */
  tell(told: ToldOutput): void {
    this.#told = told
    this.#judged = this.#verdict = this.#judging = undefined
    this.#judge(told.object, told.raw)
  }

  /** Why it is none, if that is known. */
  get error(): OutputError | undefined {
    return this.#verdict?.status === 'error' ? this.#verdict.error : undefined
  }

  /** The part to show in the place of this text; undefined: the text is to be shown. */
  partOf(text: TextPart, outcome: RunOutcome): StructuredOutputPart | undefined {
    // A server may restate what was said.
    if (this.#judged !== undefined && this.#shown?.text !== text && this.#judged !== text.content) this.#judged = this.#verdict = this.#judging = undefined
    if (this.#verdict === undefined) {
      // A run that asks us something, or goes on to a tool, has not answered yet.
      if (this.#told === undefined && (outcome === 'interrupted' || (!this.announced && this.#passed))) return undefined
      this.#follow(text.content)
      if (!this.announced && outcome !== 'finished' && this.#json.error !== undefined) return undefined
      if (this.#told === undefined && outcome !== 'running') this.#end(text.content, outcome)
    }
    const verdict = this.#verdict
    if (this.#shown?.text !== text || this.#shown.verdict !== verdict) this.#shown = { text, verdict, part: this.#make(text, verdict) }
    return this.#shown.part
  }

  #make({ content, origin }: TextPart, verdict: Verdict | undefined): StructuredOutputPart {
    const told = this.#told
    if (told === undefined) this.#follow(content)
    const partial = told === undefined ? this.#json.value : told.object
    return {
      type: 'structured-output',
      status: verdict?.status ?? 'streaming',
      raw: told?.raw || content,
      ...(partial !== undefined && { partial }),
      ...(verdict?.status === 'complete' && verdict.data !== undefined && { data: verdict.data }),
      ...(verdict?.status === 'error' && { errorMessage: verdict.errorMessage }),
      ...(told?.reasoning !== undefined && { reasoning: told.reasoning }),
      ...(origin !== undefined && { origin }),
    }
  }

  /** The deltas are this text, as a rule; a text that was restated, or of which a call took the beginning, is read anew. */
  #follow(content: string): void {
    if (content.length === this.#length) return
    this.#json = new PartialJson()
    this.#json.append(content)
    this.#length = content.length
  }

  /** The run is over, and this is all of it. */
  #end(content: string, outcome: RunOutcome): void {
    if (this.#judging !== undefined) return
    this.#judged = content
    if (outcome !== 'finished') return this.#refuse('cut-short', 'The run ended before the answer was whole.', content)
    if (this.#json.complete) return this.#judge(this.#json.value, content)
    this.#refuse('not-json', 'The answer is no JSON.', content)
  }

  #judge(value: unknown, raw: string): void {
    this.#check(value, (checked) => {
      if (checked.wrong === undefined) this.#verdict = { status: 'complete', data: checked.value }
      else this.#refuse('unfit', checked.wrong, raw, checked.cause)
    })
  }

  #check(value: unknown, take: (checked: Checked) => void): void {
    const schema = this.#plan.schema()
    if (schema === undefined) return take({ value })
    const checked = checkedBy(schema, value)
    if (!(checked instanceof Promise)) return take(checked)
    const judging = (this.#judging = {})
    void checked.then((late) => {
      // What was told or restated meanwhile is checked by itself.
      if (this.#judging !== judging) return
      this.#judging = undefined
      take(late)
      this.#plan.onSettled()
    })
  }

  #refuse(code: OutputError['code'], message: string, raw: string, cause?: unknown): void {
    const error = new OutputError(message, { code, messageId: this.messageId, raw, cause })
    this.#verdict = { status: 'error', errorMessage: error.message, error }
  }
}

/** A text that is JSON to its end. */
function wholeJson(text: string): { readonly value: unknown } | undefined {
  const json = new PartialJson()
  json.append(text)
  return json.complete ? { value: json.value } : undefined
}
