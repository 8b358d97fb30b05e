/** What the agent may call in this page. */
import { defineTool } from '@millrace/client'
import type { LocalTime } from '../src/local-time.ts'
import { LOCAL_TIME } from '../src/local-time.ts'

export const tools = [
  defineTool({
    name: LOCAL_TIME,
    description: 'The time and the time zone where the user is',
    parameters: { type: 'object', properties: { compare_with: { type: 'string' }, format: { type: 'string' } } },
    execute: (): LocalTime => ({
      now: new Date().toISOString().replace(/\.\d+/u, ''),
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    }),
  }),
]
