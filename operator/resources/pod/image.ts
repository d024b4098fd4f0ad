/** Which image runs, from what the spec says and what the operator chooses otherwise. */
import type { Image } from '../../api/common-spec.ts'

interface ImageParts {
  readonly repository: string
  readonly tag: string
}

/**
 * The image reference. A tag or digest of the spec goes before the operator's; with another
 * repository alone the operator's tag is pulled from there, but not its digest.
 */
export function imageOf(image: Image, fallback: string): string {
  const standard = parseImage(fallback)
  const repository = image.repository || standard.repository
  const { tag = '', digest = '' } = image
  if (digest !== '') return `${repository}@${digest}`
  if (tag !== '') return `${repository}:${tag}`
  if (repository === standard.repository) return fallback
  return standard.tag === '' ? repository : `${repository}:${standard.tag}`
}

/** A colon after the last slash begins a tag; one before it is a registry's port. */
function parseImage(reference: string): ImageParts {
  const [name = ''] = reference.split('@')
  const colon = name.lastIndexOf(':')
  const hasTag = colon > name.lastIndexOf('/')
  return {
    repository: hasTag ? name.slice(0, colon) : name,
    tag: hasTag ? name.slice(colon + 1) : '',
  }
}
