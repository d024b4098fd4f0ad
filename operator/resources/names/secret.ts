/** What all Secrets have in common. */
import type { V1ObjectMeta, V1Secret } from '@kubernetes/client-node'

/** An Opaque Secret; values are given as text. */
export function opaqueSecret(
  metadata: V1ObjectMeta,
  values: Readonly<Record<string, string>>,
): V1Secret {
  const data = Object.entries(values).map(([name, value]) => [name, toBase64(value)])
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    type: 'Opaque',
    data: Object.fromEntries(data),
  }
}

/** The text of a key; undefined where there is none or an empty one. */
export function secretValue(secret: Pick<V1Secret, 'data'>, key: string): string | undefined {
  const encoded = secret.data?.[key] ?? ''
  return encoded === '' ? undefined : Buffer.from(encoded, 'base64').toString('utf8')
}

export function toBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
