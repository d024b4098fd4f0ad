/**
 * What is kept of a resource. The CRDs keep every field of a pod template, and can bound none that they do not know;
 * Kubernetes bounds neither labels nor finalizers. So that whoever writes resources does not fill the memory of the operator,
 * and its time, only metadata that is read is kept, and no pod template or labels that are too large. Kubernetes takes no
 * StatefulSet whose annotations have more than 256 KiB, where its template is recorded.
 */
import type { PodTemplate } from '../../api/pod-template.ts'
import type { Resource } from '../../api.ts'
import { fieldOf } from '../../resources/names/unchecked-json.ts'
import type { Problem } from '../statements/problem.ts'

/** Characters of their JSON. */
const maxTemplateLength = 131_072
const maxLabelsLength = 65_536

/** In the place of one that is too large. */
const tooLarge: PodTemplate = Object.freeze({})

/** The resource as it is kept. No View selects a Host by labels that are too large. */
export function keepResource<R extends Resource>(resource: R): R {
  const { name, namespace, uid, generation, ...metadata } = resource.metadata
  const { labels, annotations, creationTimestamp, deletionTimestamp } = metadata
  const isTemplateTooLarge = lengthOf(fieldOf(resource.spec, 'podTemplate')) > maxTemplateLength
  return {
    ...resource,
    metadata: {
      ...{ name, namespace, uid, generation },
      ...(labels && lengthOf(labels) <= maxLabelsLength && { labels }),
      ...(annotations && { annotations }),
      ...(creationTimestamp && { creationTimestamp }),
      ...(deletionTimestamp && { deletionTimestamp }),
    },
    ...(isTemplateTooLarge && { spec: { ...resource.spec, podTemplate: tooLarge } }),
  }
}

/** That the template was too large to be kept; null where it was not. */
export function templateProblem({ spec }: Resource): Problem | null {
  if (!('podTemplate' in spec) || spec.podTemplate !== tooLarge) return null
  const message = `spec.podTemplate has more than ${maxTemplateLength} characters in JSON, and no pod is touched meanwhile: put files into a ConfigMap, and take out what is no part of a pod template.`
  return { reason: 'InvalidSpec', message }
}

function lengthOf(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length
}
