/** Shapes of RAW and CUSTOM. */
import { json, owned, type Shapes } from './shape.ts'

export const custom: Shapes<'RAW' | 'CUSTOM'> = {
  RAW: owned('source?', { event: json }),
  CUSTOM: owned('name', { value: json }),
}
