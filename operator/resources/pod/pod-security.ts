/** What restricted Pod Security asks for, and the user of the images, whose group owns the volumes. */
import type { V1PodSecurityContext, V1SecurityContext } from '@kubernetes/client-node'
import { containerUser } from '../../../src/service/contract.ts'

/** Of every pod that is made here. */
export const podSecurity: Readonly<V1PodSecurityContext> = {
  runAsNonRoot: true,
  runAsUser: containerUser.uid,
  runAsGroup: containerUser.gid,
  fsGroup: containerUser.gid,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
}

/** Of every container in them. */
export const containerSecurity: Readonly<V1SecurityContext> = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
}
