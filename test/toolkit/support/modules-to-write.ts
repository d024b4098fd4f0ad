/** Two modules that are large enough for a kill to hit their writing. */
import { viewModule } from '../../../src/toolkit/typescript/view-module.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'

const fields = Array.from({ length: 256 }, (_, n) => `f${n}: Int`).join(' ')
const rowType = parseRowType(`type V { ${fields} }`)

/** Everything in each follows from its number, so that a mixture shows. */
export const modulesToWrite: readonly string[] = ['A', 'B'].map((letter) =>
  viewModule(Array.from({ length: 20 }, (_, n) => ({ name: `${letter}${n}`, rowType }))),
)
