/** Runs `kubectl viewmesh restore` with a backup on its standard input. */
import type { ContainerExec } from '../../../operator/plugin/cluster/exec.ts'
import { backupText, type IdentityBackup } from '../../../operator/plugin/identity/backup-file.ts'
import type { Client } from './kubernetes-client.ts'
import { runPlugin } from './plugin-run.ts'

type Restore = (
  cluster: { readonly exec: ContainerExec },
  from?: IdentityBackup,
  ...args: readonly string[]
) => ReturnType<typeof runPlugin>

/** Restores `backup` where no other one is given. */
export function restoreOf(
  room: { readonly client: Pick<Client, 'api'> },
  backup: IdentityBackup,
): Restore {
  return (cluster, from = backup, ...args) =>
    runPlugin(room.client, ['restore', '-', ...args], {
      exec: cluster.exec,
      stdin: backupText(from),
    })
}

/** Path of the Host `mainnet`. */
export const mainnetPath = (namespace: string): string =>
  `/apis/viewmesh.io/v1alpha1/namespaces/${namespace}/hosts/mainnet`
