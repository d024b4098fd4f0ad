/** JSON patches (RFC 6902), as far as the operator sends them: add, replace, remove and test. */
import { isDeepStrictEqual } from 'node:util'

interface Operation {
  readonly op: string
  readonly path: string
  readonly value?: unknown
}

type Container = Record<string, unknown> | unknown[]

/** The document with the operations applied in their order; null where one does not fit. */
export function jsonPatch<T extends object>(document: T, operations: unknown): T | null {
  const root = { document: structuredClone(document) }
  const fits = (operations as readonly Operation[]).every((one) => perform(root, one))
  return fits ? root.document : null
}

function perform(root: { document: object }, { op, path, value }: Operation): boolean {
  const steps = ['document', ...path.split('/').slice(1)].map((step) =>
    step.replaceAll('~1', '/').replaceAll('~0', '~'),
  )
  const last = steps.pop() ?? ''
  const place = steps.reduce<unknown>((found, step) => Object(found)[step], root)
  if (typeof place !== 'object' || place === null) return false
  const container = place as Container
  if (op === 'add') return add(container, last, value)
  if (!Object.hasOwn(container, last)) return false
  const found: unknown = Reflect.get(container, last)
  if (op === 'test') return isDeepStrictEqual(found, value)
  if (op === 'replace') return Reflect.set(container, last, value)
  if (op !== 'remove') throw new RangeError(`the operation ${op} is not known here`)
  if (Array.isArray(container)) return container.splice(Number(last), 1).length === 1
  return Reflect.deleteProperty(container, last)
}

function add(container: Container, name: string, value: unknown): boolean {
  if (!Array.isArray(container)) return Reflect.set(container, name, value)
  const index = name === '-' ? container.length : Number(name)
  container.splice(index, 0, value)
  return true
}
