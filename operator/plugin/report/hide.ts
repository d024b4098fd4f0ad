/**
 * Takes out of a report what people put credentials into: paths and users of URLs, since execution nodes for rent have
 * their key there, values of environment variables, and copies of whole specs in annotations. Bytes, such as the
 * modules of lenses, are left out too: they are long, and nobody reads them.
 */
import { records } from '../../api/annotations.ts'

const hidden = '(hidden)'
/** Copies of what is in the report anyway, as text in which nothing would be recognised. */
const copies: readonly string[] = [
  'kubectl.kubernetes.io/last-applied-configuration',
  records.podTemplate,
]

/**
 * A comma ends one only where the next begins, as in lists of nodes: a password may have one. Schemes have a bound, since
 * else a long text that has none, as a pod may write it, would take its square.
 */
const url = /([a-z][a-z0-9+.-]{0,31}:\/\/)((?:(?!,[a-z][a-z0-9+.-]{0,31}:\/\/)[^\s"'`<>\\])*)/gi
const named =
  /((?:api[-_]?keys?|tokens?|secrets?|passwords?|authorization)\\?["']?\s*[:=]\s*\\?["']?)(?:bearer\s+|basic\s+)?[^\s"'\\,}]+/gi

/** A text with URLs as far as their port only. */
export function hideInText(text: string): string {
  return text.replaceAll(url, (_, scheme: string, rest: string) => {
    const [, host = '', after = ''] = /^(?:[^/?#]*@)?([^/?#]*)(.*)$/s.exec(rest) ?? []
    return `${scheme}${host}${after === '' || after === '/' ? after : `/${hidden}`}`
  })
}

/** A line of a log, in which values may also be named as what they are. */
export function hideInLog(line: string): string {
  return hideInText(line).replaceAll(named, `$1${hidden}`)
}

/** A copy of an object of Kubernetes without what may hold a credential. */
export function hideInObject(value: unknown): unknown {
  if (typeof value === 'string') return hideInText(value)
  if (Array.isArray(value)) return value.map(hideInObject)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'managedFields' && !copies.includes(name))
      .map(([name, inner]) => [name, hideInField(name, inner)]),
  )
}

function hideInField(name: string, value: unknown): unknown {
  if (name === 'env') return hideValues(value)
  return name === 'binaryData' ? lengthsOf(value) : hideInObject(value)
}

function lengthsOf(binaryData: unknown): unknown {
  return Object.fromEntries(
    Object.entries(Object(binaryData)).map(([key, base64]) => [
      key,
      `(${Buffer.from(String(base64), 'base64').length} bytes)`,
    ]),
  )
}

/** Variables with a value of their own lose it; where others come from is no secret. */
function hideValues(env: unknown): unknown {
  if (!Array.isArray(env)) return hideInObject(env)
  return env.map((variable: unknown) => {
    const shown = hideInObject(variable)
    const isPlain = typeof shown === 'object' && shown !== null && 'value' in shown
    return isPlain ? { ...shown, value: hidden } : shown
  })
}
