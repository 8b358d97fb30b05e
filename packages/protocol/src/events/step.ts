/** Shapes of STEP_*. */
import { owned, type Shapes } from './shape.ts'

export const step: Shapes<`STEP_${string}`> = {
  STEP_STARTED: owned('stepName'),
  STEP_FINISHED: owned('stepName'),
}
