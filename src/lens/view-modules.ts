/** Looks through all modules of a View before any is compiled: each by itself, and what they take together. */
import { ServiceError } from '../errors.ts'
import { checkAbi } from './abi-check.ts'
import { checkModule } from './module-check.ts'
import { countExports, countTableEntries } from './module-sizes.ts'

/** What all lenses of a View may have together. Of runtime version 1, as the limits of modules are. */
export const viewModuleLimits = {
  /** Entries of tables, which take up to 32 bytes each beside linear memory. */
  tableEntries: 262_144,
  /** Some 400 bytes each, in every instance. */
  exports: 65_536,
} as const

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
  const together = (count: (module: Uint8Array) => number): number =>
    checked.reduce((sum, { wasm }) => sum + count(wasm), 0)
  const { tableEntries, exports } = viewModuleLimits
  checkTogether(together(countTableEntries), 'entries of tables', tableEntries)
  checkTogether(together(countExports), 'exports', exports)
  return checked
}

function checkTogether(count: number, what: string, most: number): void {
  if (count <= most) return
  throw new ServiceError(
    'LENS_MODULE_REFUSED',
    `the modules of the lenses are refused: they have ${count} ${what} together, and ${most} are accepted`,
    {
      facts: { count },
      remedy: 'Use fewer lenses, or let the compiler leave out what they do not use.',
    },
  )
}
