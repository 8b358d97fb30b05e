/** Shapes of STEP_*. */
import { event, string, type ObjectShape } from './shape.ts'

export const STEP_STARTED: ObjectShape = event({ stepName: string })
export const STEP_FINISHED: ObjectShape = event({ stepName: string })
