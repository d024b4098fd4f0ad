/** The setting that says where an empty store begins. */
import { kind, type SettingKind, scalarText } from '../service/setting-kinds.ts'
import type { StartHeight } from './first-height.ts'

/** `latest`, a height, or `-N`. */
export const startHeight: SettingKind<StartHeight> = kind(
  'latest, a height such as 19000000, or -N for N blocks behind the head',
  (value) => parseStartHeight(scalarText(value) ?? ''),
)

function parseStartHeight(text: string): StartHeight | undefined {
  if (text === 'latest') return { kind: 'behind', blocks: 0 }
  if (!/^-?\d{1,15}$/.test(text)) return undefined
  const number = Number(text)
  return text.startsWith('-') ? { kind: 'behind', blocks: -number } : { kind: 'at', height: number }
}
