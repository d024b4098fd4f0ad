/**
 * Quantities of Kubernetes: a number with a suffix, such as 300Gi, 500m or 1e3.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */

const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}
const shape = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,3}))?$/

/** The number a quantity stands for; undefined where it is none. */
export function parseQuantity(text: unknown): number | undefined {
  const match = shape.exec(String(text))
  if (match === null) return undefined
  const [, digits = '', suffix = '', exponent] = match
  return exponent === undefined
    ? Number(digits) * (suffixes[suffix] ?? Number.NaN)
    : Number(`${digits}e${exponent}`)
}

/** True where both are quantities of the same size, however they are written. */
export function sameQuantity(a: unknown, b: unknown): boolean {
  const [first, second] = [parseQuantity(a), parseQuantity(b)]
  if (first === undefined || second === undefined) return false
  return Math.abs(first - second) <= Math.abs(first) * 1e-12
}

/** The larger of two sizes, as it was written. Throws nothing: what is no size counts as nothing. */
export function largerSize(a: string, b: string): string {
  return (parseQuantity(b) ?? 0) > (parseQuantity(a) ?? 0) ? b : a
}
