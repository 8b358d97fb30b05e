/** Parts of messages read as calls of a tool, also of one that is not the chat's own. */
import type { Tool, UIPart } from '@millrace/protocol'
import type { ClientTool } from './define-tool.ts'
import type { ToolCallPartOf } from './tool-types.ts'

/**
 * A part as a call of this tool, with the types of that; for tools that a server runs.
 * @returns undefined if it is none.
 */
export function callOf<const Each extends ClientTool | Tool>(part: UIPart, tool: Each): ToolCallPartOf<Each> | undefined {
  return part.type === 'tool-call' && part.name === tool.name ? (part as ToolCallPartOf<Each>) : undefined
}
