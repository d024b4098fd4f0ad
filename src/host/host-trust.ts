/** The lists of accepted signers and Hosts that the settings name, with the files that add to them. */
import type { Logger } from 'pino'
import type { Running } from '../service/run.ts'
import { type LineFile, openLineFile } from '../service/settings/line-file.ts'
import type { SettingKind } from '../service/settings/setting-kinds.ts'
import type { StoreReader } from '../store/store.ts'
import type { Writer } from './apply/writer.ts'
import { type HostSettings, hostIdentity, signerIdentity, trustModeOf } from './config.ts'
import { openTrust, type Trust } from './trust/trust.ts'

interface HostTrustOptions {
  readonly settings: HostSettings
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** The identity of this Host. */
  readonly own: string
}

interface HostTrustParts {
  readonly log: Logger
  readonly running: Pick<Running, 'own' | 'fail'>
  readonly writer: Writer
  readonly reader: StoreReader
}

/** All that is open is owned by `running`. */
export async function openHostTrust(
  { settings, network, own }: HostTrustOptions,
  { log, running, writer, reader }: HostTrustParts,
): Promise<Trust> {
  // The first file may change while the second is opened: both are read when the lists are made.
  let trust: Trust | null = null
  const open = async (
    setting: string,
    path: string | null,
    kind: SettingKind<string>,
    onChange: () => void,
  ): Promise<LineFile<string> | null> => {
    if (path === null) return null
    const file = await openLineFile({ path, setting, kind, isWhole: true }, { log, onChange })
    return running.own(`file of ${setting}`, file)
  }
  const { trustedSignersFile, trustedHostsFile, trustedSigners, trustedHosts } = settings
  const file = await open('HOST_TRUSTED_SIGNERS_FILE', trustedSignersFile, signerIdentity, () =>
    trust?.onFile(),
  )
  const hostsFile = await open('HOST_TRUSTED_HOSTS_FILE', trustedHostsFile, hostIdentity, () =>
    trust?.onHostsFile(),
  )
  const lists = { mode: trustModeOf(settings), listed: trustedSigners, listedHosts: trustedHosts }
  trust = openTrust(
    { ...lists, own, network },
    { log, writer, reader, file, hostsFile, onFatal: running.fail },
  )
  return running.own('trust', trust)
}
