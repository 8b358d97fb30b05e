/** Shapes of RAW and CUSTOM. */
import { event, json, string, type ObjectShape } from './shape.ts'

export const RAW: ObjectShape = event({ event: json, 'source?': string })
export const CUSTOM: ObjectShape = event({ name: string, value: json })
