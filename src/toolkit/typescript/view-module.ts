/** The module of types and queries that is written for Views. */
import { ServiceError } from '../../errors.ts'
import { moduleHeader, sharedDeclarations } from './shared-declarations.ts'
import { type TypedView, viewDeclarations } from './view-declarations.ts'

/** Bytes of a module; compilers and editors are slow with much less. */
export const maxModuleBytes: number = 16 * 1024 * 1024

/**
 * TypeScript without imports, the same for the same Views in any order. Types follow from the SDL, which `parseRowType` has
 * checked: names are names of GraphQL, and only descriptions are text of their authors.
 * @throws ServiceError `TOOLKIT_TYPES_REFUSED` where two Views have one name, or the module were larger than it may be.
 */
export function viewModule(views: readonly TypedView[]): string {
  const sorted = views.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const parts = [`${moduleHeader}\n`, sharedDeclarations]
  let bytes = Buffer.byteLength(parts.join('\n'))
  for (const [index, view] of sorted.entries()) {
    if (sorted[index + 1]?.name === view.name) throw twice(view.name)
    const text = viewDeclarations(view)
    bytes += Buffer.byteLength(text) + 1
    if (bytes > maxModuleBytes) throw tooLarge(views.length)
    parts.push(text)
  }
  return parts.join('\n')
}

function twice(name: string): ServiceError {
  return new ServiceError('TOOLKIT_TYPES_REFUSED', `two Views are named ${name}`, {
    remedy: 'Write their types into files of their own.',
  })
}

function tooLarge(count: number): ServiceError {
  return new ServiceError(
    'TOOLKIT_TYPES_REFUSED',
    `the types of ${count} Views have more than ${maxModuleBytes} bytes`,
    { remedy: 'Name the Views that you use.' },
  )
}
