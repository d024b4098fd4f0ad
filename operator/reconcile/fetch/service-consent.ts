/**
 * Whether the Service of an execution node may be used for a Generator. What its selector says ends up in objects
 * of the Generator's namespace, whose users may have no rights in that of the Service, so its owner has to allow it.
 */
import type { V1Service } from '@kubernetes/client-node'
import { consents } from '../../api/annotations.ts'

/** Whether a Service of another namespace names the Generator's. */
export function isConsenting(service: V1Service | null, namespace: string): boolean {
  const named = service?.metadata?.annotations?.[consents.allowedNamespaces] ?? ''
  return named.split(',').some((one) => one.trim() === namespace)
}

/**
 * What is wrong with a Service that does not consent, and the remedy. It is the same for one that does not
 * exist: what there is in other namespaces is not for everybody to know.
 */
export function consentText(service: string, namespace: string): string {
  return `Service ${service} is in another namespace, and does not exist or does not allow this one to know its pods: have its owner name ${namespace} in its annotation ${consents.allowedNamespaces}`
}
