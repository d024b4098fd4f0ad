/**
 * How large a pod template may be. The CRDs keep every field of one, and can bound none that they do not know, so that whoever
 * writes a resource could fill the memory of the operator, and its time. Kubernetes takes no StatefulSet whose annotations have
 * more than 256 KiB, where its template is recorded.
 */
import type { PodTemplate } from '../../api/pod-template.ts'
import type { Resource } from '../../api.ts'
import { fieldOf } from '../../resources/names/unchecked-json.ts'
import type { Problem } from '../statements/problem.ts'

/** Characters of its JSON. */
const maxLength = 131_072

/** In the place of one that is too large. */
const tooLarge: PodTemplate = Object.freeze({})

/** The resource as it is kept. */
export function withoutLargeTemplate<R extends Resource>(resource: R): R {
  if (lengthOf(resource) <= maxLength) return resource
  return { ...resource, spec: { ...resource.spec, podTemplate: tooLarge } }
}

/** That the template was too large to be kept; null where it was not. */
export function templateProblem({ spec }: Resource): Problem | null {
  if (!('podTemplate' in spec) || spec.podTemplate !== tooLarge) return null
  const message = `spec.podTemplate has more than ${maxLength} characters in JSON, and no pod is touched meanwhile: put files into a ConfigMap, and take out what is no part of a pod template.`
  return { reason: 'InvalidSpec', message }
}

function lengthOf({ spec }: Resource): number {
  const template = fieldOf(spec, 'podTemplate')
  return template === undefined ? 0 : JSON.stringify(template).length
}
