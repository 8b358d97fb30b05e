/** The laws once more, in a real browser. */
import './laws/check-then-commit.test.ts'
import './laws/compaction.test.ts'
import './laws/cut-anywhere.test.ts'
import './laws/inverse.test.ts'
import './laws/partial-json.test.ts'
import './laws/same-verdict.test.ts'
import './laws/sharing.test.ts'
