/** Looks through all modules of a View before any is compiled: each by itself, and what they take together. */
import { ServiceError } from '../errors.ts'
import { checkAbi } from './abi-check.ts'
import { checkModule } from './module-check.ts'
import { countTableEntries } from './module-sizes.ts'

/**
 * Entries of all tables of a View's lenses, of which each takes up to 32 bytes beside linear memory. One of runtime
 * version 1, as those of modules are.
 */
export const maxTableEntries = 262_144

interface WithModule {
  readonly wasm: Uint8Array
}

/** The same lenses, with the sizes of their modules bounded. @throws ServiceError `LENS_MODULE_REFUSED` */
export function checkModules<L extends WithModule>(
  lenses: readonly L[],
): (L & { readonly wasm: Uint8Array<ArrayBuffer> })[] {
  const checked = lenses.map((lens) => {
    const wasm = checkModule(lens.wasm)
    checkAbi(wasm)
    return { ...lens, wasm }
  })
  const entries = checked.reduce((sum, { wasm }) => sum + countTableEntries(wasm), 0)
  if (entries <= maxTableEntries) return checked
  throw new ServiceError(
    'LENS_MODULE_REFUSED',
    `the modules of the lenses are refused: their tables have ${entries} entries together, and ${maxTableEntries} are accepted`,
    { facts: { entries }, remedy: 'Use fewer lenses, or ones whose tables are smaller.' },
  )
}
