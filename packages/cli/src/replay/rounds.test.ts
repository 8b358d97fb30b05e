import { describe, expect, it } from 'vitest'
import { inRound } from './rounds.ts'

const inSecond = (event: object): unknown => JSON.parse(inRound(JSON.stringify(event), 2))

describe('ids of a round', () => {
  it('are those of the recording in the first', () => {
    const data = '{ "type":"TEXT_MESSAGE_END", "messageId":"m" }'
    expect(inRound(data, 1)).toBe(data)
  })

  const user = { id: 'u', role: 'user', content: [{ type: 'text', id: 'p', text: 'x' }] }
  const assistant = { id: 'a', role: 'assistant', subagentRunId: 's', toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"id":"x"}' } }] }
  const tool = { id: 't', role: 'tool', toolCallId: 'c', content: 'x' }
  const messages = [user, assistant, tool]
  const messagesOfSecond = [
    { ...user, id: 'u#2' },
    { ...assistant, id: 'a#2', subagentRunId: 's#2', toolCalls: [{ ...assistant.toolCalls[0], id: 'c#2' }] },
    { ...tool, id: 't#2', toolCallId: 'c#2' },
  ]

  it.each<[object, object]>([
    [{ type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f', parentMessageId: 'm' }, { toolCallId: 'c#2', parentMessageId: 'm#2' }],
    [{ type: 'TOOL_CALL_CHUNK', parentMessageId: null, toolCallId: 'c' }, { toolCallId: 'c#2' }],
    [{ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'm', subagentRunId: '' }, { messageId: 'm#2', subagentRunId: '#2' }],
    [{ type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'm', encryptedValue: 'm' }, { entityId: 'm#2' }],
    [{ type: 'SUBAGENT_STARTED', subagentRunId: 's', parentSubagentRunId: 'p', parentToolCallId: 'c', parentMessageId: 'm', name: 's' }, { subagentRunId: 's#2', parentSubagentRunId: 'p#2', parentToolCallId: 'c#2', parentMessageId: 'm#2' }],
    [{ type: 'SUBAGENT_FINISHED', subagentRunId: 's', outcome: { type: 'suspended', interruptIds: ['i'] } }, { subagentRunId: 's#2', outcome: { type: 'suspended', interruptIds: ['i#2'] } }],
    [{ type: 'RUN_FINISHED', threadId: 't', runId: 'r', result: { messageId: 'm' }, outcome: { type: 'success', pendingToolCallIds: ['c'] } }, { runId: 'r#2', outcome: { type: 'success', pendingToolCallIds: ['c#2'] } }],
    [
      { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'x', toolCallId: 'c', subagentRunId: 's', metadata: { id: 'x' } }] } },
      { runId: 'r#2', outcome: { type: 'interrupt', interrupts: [{ id: 'i#2', reason: 'x', toolCallId: 'c#2', subagentRunId: 's#2', metadata: { id: 'x' } }] } },
    ],
    [
      { type: 'RUN_STARTED', threadId: 't', runId: 'r', parentRunId: 'q', input: { threadId: 't', runId: 'r', parentRunId: 'q', messages, state: { messageId: 'm' }, resume: [{ interruptId: 'i', status: 'resolved', payload: { toolCallId: 'c' } }] } },
      {
        runId: 'r#2',
        parentRunId: 'q#2',
        input: { threadId: 't', runId: 'r#2', parentRunId: 'q#2', messages: messagesOfSecond, state: { messageId: 'm' }, resume: [{ interruptId: 'i#2', status: 'resolved', payload: { toolCallId: 'c' } }] },
      },
    ],
    [{ type: 'MESSAGES_SNAPSHOT', messages }, { messages: messagesOfSecond }],
    [{ type: 'CUSTOM', name: 'approval-requested', value: { toolCallId: 'c', input: { toolCallId: 'c' }, approval: { id: 'y' } } }, { value: { toolCallId: 'c#2', input: { toolCallId: 'c' }, approval: { id: 'y#2' } } }],
    [{ type: 'CUSTOM', name: 'mine', value: { toolCallId: 'c' } }, {}],
    [{ type: 'STATE_SNAPSHOT', snapshot: { messageId: 'm', messages: [{ id: 'm' }] } }, {}],
    [{ type: 'ACTIVITY_SNAPSHOT', messageId: 'm', activityType: 'x', content: { messageId: 'm' } }, { messageId: 'm#2' }],
  ])('are others in the next: %j', (event, changed) => expect(inSecond(event)).toEqual({ ...event, ...changed }))
})
