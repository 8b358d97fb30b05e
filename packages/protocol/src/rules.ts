/**
 * What the rules say, as data: one row a rule. The CLI, the conformance files and the docs read this table; the reading
 * path does not. Adding a rule is a row in `severities.ts`, a row here, a row in the table that applies it, and a case.
 */
import { HYGIENE, severityOf, TOLERATED, type RuleId, type Severity } from './severities.ts'

/** What one rule says, for those who show findings. */
export interface Rule {
  readonly severity: Severity
  /** The rule as a sentence. */
  readonly title: string
  /** Why it matters and what to do about a finding. */
  readonly explanation: string
  /** Where the rule comes from. */
  readonly source: string
}

const TEXTS: Readonly<Record<RuleId, Omit<Rule, 'severity'>>> = {
  // frames
  'frame.not-json': {
    source: 'AG-UI 1.0, transport',
    title: 'A frame holds one JSON object with a string `type`',
    explanation: 'The bytes are no AG-UI event. Look for an error page, a proxy, or text printed into the stream.',
  },
  'frame.not-protobuf': {
    source: 'AG-UI 1.0, transport',
    title: 'A binary frame holds one event of AG-UI in protobuf',
    explanation: 'The bytes are no AG-UI event. Look for a proxy that changes bodies, a wrong frame length, or another content type.',
  },
  'frame.truncated': {
    source: 'AG-UI 1.0, transport',
    title: 'A stream ends at the end of a frame',
    explanation: 'The connection was cut in the middle of a frame; what came before it is kept.',
  },
  'frame.too-long': {
    source: 'limit frameLength',
    title: 'A frame stays below the length limit',
    explanation: 'Send smaller deltas, or raise `limits.frameLength` if frames of this size are expected.',
  },
  'frame.done': {
    source: 'common practice',
    title: 'A stream ends with RUN_FINISHED, not with [DONE]',
    explanation: '`[DONE]` is no AG-UI event. It is read as the end of the open run; send RUN_FINISHED instead.',
  },

  // enforcement
  'event.malformed': {
    source: 'AG-UI 1.0, processing',
    title: 'A known field has a value of its type',
    explanation: 'A known field with a wrong value is never coerced or ignored. Send the value the schema asks for.',
  },
  'event.too-deep': {
    source: 'limit jsonDepth',
    title: 'Open JSON stays below the depth limit',
    explanation: 'Flatten the value, or raise `limits.jsonDepth` if values this deep are expected.',
  },
  'event.unknown-type': {
    source: 'AG-UI 1.0, processing',
    title: 'An event has a type that AG-UI 1.0 defines',
    explanation: 'Use CUSTOM for events of your own.',
  },
  'event.unknown-field': {
    source: 'AG-UI 1.0, processing',
    title: 'A closed object has only fields that AG-UI 1.0 defines',
    explanation: 'Put application data under `metadata`, which is open.',
  },
  'event.unknown-member': {
    source: 'AG-UI 1.0, processing',
    title: 'A union member has a tag that AG-UI 1.0 defines',
    explanation: 'What cannot be without it went with it. Send a kind that AG-UI 1.0 defines.',
  },
  'event.null-field': {
    source: 'AG-UI 1.0, compatibility',
    title: 'An absent optional field is left out, not null',
    explanation: 'Read as absent. Leave the field out: null is refused for fields outside the list of known producers’ slips.',
  },
  'event.retired-shape': {
    source: 'AG-UI 1.0, compatibility',
    title: 'A shape from before 1.0 is not sent any more',
    explanation: 'Translated to its 1.0 form. Move the producer to AG-UI 1.0 before the translation expires.',
  },
  'run.version': {
    source: 'AG-UI 1.0, versions',
    title: 'The producer speaks a protocol version this reader knows',
    explanation: 'The producer declared a newer version, or one that is not MAJOR.MINOR. Events were read as 1.0.',
  },

  // run
  'run.first-event': {
    source: 'AG-UI 1.0, event order',
    title: 'A stream begins with RUN_STARTED or RUN_ERROR',
    explanation: 'Send RUN_STARTED before anything else.',
  },
  'run.nested': {
    source: 'AG-UI 1.0, event order',
    title: 'A run starts when no run is open',
    explanation: 'Finish the open run first: send RUN_FINISHED or RUN_ERROR.',
  },
  'run.after-finish': {
    source: 'AG-UI 1.0, event order',
    title: 'After RUN_FINISHED comes only RUN_STARTED or RUN_ERROR',
    explanation: 'Send the event before RUN_FINISHED, or start a new run.',
  },
  'run.after-error': {
    source: 'AG-UI 1.0, event order',
    title: 'After RUN_ERROR comes only RUN_STARTED',
    explanation: 'Start a new run before sending more.',
  },
  'run.identity': {
    source: 'AG-UI 1.0, event order',
    title: 'RUN_FINISHED names the run that was started',
    explanation: 'Give RUN_FINISHED the threadId and runId of its RUN_STARTED.',
  },
  'run.truncated': {
    source: 'AG-UI 1.0, transport',
    title: 'A run ends with RUN_FINISHED or RUN_ERROR',
    explanation: 'This is no success; what came is kept. Send a terminal event before closing the connection.',
  },
  'run.empty': {
    source: 'AG-UI 1.0, transport',
    title: 'A stream has at least one run',
    explanation: 'Send at least RUN_STARTED and RUN_FINISHED, or RUN_ERROR with the reason.',
  },
  'finish.all-closed': {
    source: 'AG-UI 1.0, event order',
    title: 'Everything is closed when a run finishes',
    explanation: 'Close what is named before RUN_FINISHED.',
  },
  'run.ledger-full': {
    source: 'limit ledgerItems',
    title: 'A run opens a bounded number of items',
    explanation: 'Raise `limits.ledgerItems` if runs of this size are expected.',
  },

  // brackets
  'text.open': {
    source: 'AG-UI 1.0, event order',
    title: 'TEXT_MESSAGE_START opens a message that is not open',
    explanation: 'End the open message first, or use another messageId.',
  },
  'text.continue': {
    source: 'AG-UI 1.0, event order',
    title: 'TEXT_MESSAGE_CONTENT and _END belong to an open message',
    explanation: 'Send TEXT_MESSAGE_START with this messageId first. Explicit and chunk events do not mix within one message.',
  },
  'tool.open': {
    source: 'AG-UI 1.0, event order',
    title: 'TOOL_CALL_START opens a call that is not open',
    explanation: 'End the open call first, or use another toolCallId.',
  },
  'tool.continue': {
    source: 'AG-UI 1.0, event order',
    title: 'TOOL_CALL_ARGS and _END belong to an open call',
    explanation: 'Send TOOL_CALL_START with this toolCallId first. Explicit and chunk events do not mix within one call.',
  },
  'step.open': {
    source: 'AG-UI 1.0, event order',
    title: 'STEP_STARTED opens a step whose name is free',
    explanation: 'Finish the open step first, or use another name.',
  },
  'step.close': {
    source: 'AG-UI 1.0, event order',
    title: 'STEP_FINISHED closes a step that is open under the same owner',
    explanation: 'Send STEP_STARTED with this name, and the same subagentRunId, first.',
  },
  'span.open': {
    source: 'AG-UI 1.0, event order',
    title: 'REASONING_START opens a span that is not open',
    explanation: 'End the open span first, or use another messageId.',
  },
  'span.close': {
    source: 'AG-UI 1.0, event order',
    title: 'REASONING_END closes an open span',
    explanation: 'Send REASONING_START with this messageId first.',
  },
  'reasoning.open': {
    source: 'AG-UI 1.0, event order',
    title: 'REASONING_MESSAGE_START opens a message that is not open',
    explanation: 'End the open message first, or use another messageId.',
  },
  'reasoning.continue': {
    source: 'AG-UI 1.0, event order',
    title: 'REASONING_MESSAGE_CONTENT and _END belong to an open message',
    explanation: 'Send REASONING_MESSAGE_START with this messageId first.',
  },

  // chunks
  'chunk.opener': {
    source: 'AG-UI 1.0, chunks',
    title: 'The first chunk of an item carries what opens it',
    explanation: 'Give the first chunk a messageId (text, reasoning), or a toolCallId and a toolCallName (tool).',
  },
  'chunk.ambiguous': {
    source: 'AG-UI 1.0, chunks',
    title: 'A chunk without id and owner has one place to go',
    explanation: 'Several owners have an open item of this kind: give the chunk its id or its subagentRunId.',
  },
  'chunk.conflict': {
    source: 'AG-UI 1.0, chunks',
    title: 'A continuing chunk repeats the opener’s fields or leaves them out',
    explanation: 'role, name, toolCallName and parentMessageId cannot change within an item.',
  },

  // ownership
  'attr.continuation': {
    source: 'AG-UI 1.0, attribution',
    title: 'A continuation carries its opener’s subagentRunId, or none',
    explanation: 'Leave subagentRunId out, or repeat that of the event which opened the item.',
  },
  'attr.reopen': {
    source: 'AG-UI 1.0, attribution',
    title: 'An item is reopened by its owner',
    explanation: 'Use another id, or the owner’s subagentRunId.',
  },
  'attr.tool-parent': {
    source: 'AG-UI 1.0, attribution',
    title: 'A call belongs to the owner of its parent message',
    explanation: 'Give the call the subagentRunId of the message it names as parent, or none.',
  },
  'attr.encrypted': {
    source: 'AG-UI 1.0, attribution',
    title: 'An encrypted value carries its entity’s subagentRunId, or none',
    explanation: 'Leave subagentRunId out, or repeat that of the entity.',
  },

  // subagents
  'sub.start': {
    source: 'AG-UI 1.0, subagents',
    title: 'SUBAGENT_STARTED has an id that is new in this run',
    explanation: 'Each invocation needs a subagentRunId of its own.',
  },
  'sub.parent': {
    source: 'AG-UI 1.0, subagents',
    title: 'parentSubagentRunId names a subagent announced in this run',
    explanation: 'Announce the parent first.',
  },
  'sub.end': {
    source: 'AG-UI 1.0, subagents',
    title: 'SUBAGENT_FINISHED and _ERROR end an active subagent',
    explanation: 'Send SUBAGENT_STARTED with this subagentRunId first; end it once.',
  },

  // tolerated deviations of real servers
  'tolerated.note-before-run': {
    source: 'TanStack AI 0.58, durable streams',
    title: 'A run begins with RUN_STARTED',
    explanation: 'A CUSTOM event came before it. Send RUN_STARTED first.',
  },
  'tolerated.result-before-run': {
    source: 'TanStack AI 0.58, runs that answer an interrupt',
    title: 'A run begins with RUN_STARTED, and its tool results follow',
    explanation: 'The result of a call came before it. Send RUN_STARTED first.',
  },
  'tolerated.ask-after-run': {
    source: 'TanStack AI, versions that ask by CUSTOM events',
    title: 'RUN_FINISHED is the last event of a run',
    explanation: 'A CUSTOM event that asks something of the client came behind it. Say it before, or ask by an interrupt.',
  },
  'tolerated.run-goes-on': {
    source: 'TanStack AI 0.58',
    title: 'A run does not go on after RUN_FINISHED',
    explanation: 'The model called tools and the same run went on. Send one RUN_FINISHED, at the end of the run.',
  },
  'tolerated.step-closed-twice': {
    source: 'TanStack AI 0.58',
    title: 'A step is finished once',
    explanation: 'The step was closed before. Send STEP_FINISHED once.',
  },

  // hygiene: legal, and worth a look (`check` only)
  'hygiene.arguments-not-json': {
    source: 'AG-UI 1.0, fold',
    title: 'The arguments of a call are JSON when the call ends',
    explanation: 'The protocol does not look into them, but every client parses them. Check what the model produced.',
  },
  'hygiene.result-without-call': {
    source: 'AG-UI 1.0, messages',
    title: 'A result answers a call that was made',
    explanation: 'No call with this toolCallId is known, so the result stands at the end and model providers may refuse it.',
  },
  'hygiene.unknown-parent': {
    source: 'AG-UI 1.0, fold',
    title: 'A call names a parent message that exists',
    explanation: 'A new assistant message was made under this id. Start the message first if it has text.',
  },
  'hygiene.stray-thread': {
    source: 'AG-UI 1.0, producer duties',
    title: 'All runs of a stream belong to one thread',
    explanation: 'A consumer folds them into one conversation. Use one stream for each thread.',
  },
  'hygiene.run-id-reused': {
    source: 'AG-UI 1.0, producer duties',
    title: 'A runId is used once in a thread',
    explanation: 'Give every run an id of its own.',
  },
  'hygiene.delta-before-snapshot': {
    source: 'AG-UI 1.0, producer duties',
    title: 'A state delta has a baseline',
    explanation: 'It applies to whatever the consumer holds. Send STATE_SNAPSHOT first when unsure what that is.',
  },
  'hygiene.no-timestamps': {
    source: 'AG-UI 1.0, events',
    title: 'Events carry timestamps',
    explanation: 'They are optional and never order events, but they show where time goes.',
  },
  'hygiene.custom-name': {
    source: 'AG-UI 1.0, producer duties',
    title: 'The name of a CUSTOM event has a prefix of its own',
    explanation: 'Unprefixed names are reserved. Use `vendor.name`, `vendor/name` or `vendor:name`.',
  },
  'hygiene.raw-wraps-event': {
    source: 'AG-UI 1.0, producer duties',
    title: 'RAW does not wrap an event of AG-UI',
    explanation: 'Consumers ignore what is inside. Send the event itself.',
  },
  'hygiene.empty-delta': {
    source: 'AG-UI 1.0, events',
    title: 'A delta has text',
    explanation: 'Empty deltas are legal and keep connections open; a comment does that cheaper.',
  },

  // fold
  'state.patch-failed': {
    source: 'AG-UI 1.0, state',
    title: 'A patch applies to the state it meets',
    explanation: 'The whole patch was refused and the value kept. Send a snapshot when unsure of the consumer’s baseline.',
  },
  'state.null-baseline': {
    source: 'AG-UI 1.0, state',
    title: 'A state that stays null over runs is {} to the next producer',
    explanation: 'A run input cannot carry null, so the producer of the next run reads {} and its delta was applied to that. Keep {} for no state.',
  },
  'state.no-target': {
    source: 'AG-UI 1.0, state',
    title: 'An event about an item names one that exists',
    explanation: 'Nothing in the thread has this id; the event changed nothing.',
  },
  'state.result-id-taken': {
    source: 'AG-UI 1.0, messages',
    title: 'A tool result has a message id of its own',
    explanation: 'A message of another role has this id; the result was stored under an id made from its toolCallId.',
  },
  'state.role-conflict': {
    source: 'AG-UI 1.0, messages',
    title: 'An id names one message of one role',
    explanation: 'The id belongs to a message of another role.',
  },
  'state.interrupt-repeated': {
    source: 'AG-UI 1.0, interrupts',
    title: 'An interrupt has an id of its own',
    explanation: 'An answer names its interrupt by id, so of several with one id only the first is asked. Give every interrupt an id of its own.',
  },
}

const BESIDE: Readonly<Partial<Record<RuleId, Severity>>> = { ...HYGIENE, ...TOLERATED }

/** The rules by id. */
export const RULES: Readonly<Record<RuleId, Rule>> = Object.fromEntries(
  (Object.entries(TEXTS) as [RuleId, Omit<Rule, 'severity'>][]).map(([id, text]) => [id, { severity: BESIDE[id] ?? severityOf(id), ...text }]),
) as Record<RuleId, Rule>
