/**
 * Addresses that a load balancer gave a Service.
 */
import type { V1Service } from '@kubernetes/client-node'

/** Where a load balancer answers: IP addresses, or names where it has no IP addresses of its own. */
export type Ingress = readonly { readonly ip?: string; readonly hostname?: string }[]

export function ingressOf({ status }: V1Service): Ingress {
  return (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ({
    ...(ip ? { ip } : {}),
    ...(hostname ? { hostname } : {}),
  }))
}
