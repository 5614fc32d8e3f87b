import { expect, it } from 'vitest'
import { claimRecovery, claimRecoveryAfter } from '../../api/kinds/claim-recovery.ts'
import { settingsOf } from './settings.ts'

it.each<[string, Record<string, string>, string | number]>([
  ['a set that asks for nothing', {}, 'off'],
  ['one that only says after how long', { [claimRecoveryAfter]: '5m' }, 'off'],
  ['five minutes if nothing is said', { [claimRecovery]: 'recreate' }, 300_000],
  ['as long as is said', { [claimRecovery]: 'recreate', [claimRecoveryAfter]: '1m30s' }, 90_000],
  ['something else than recreate', { [claimRecovery]: 'true' }, 'invalid'],
  ['no duration', { [claimRecovery]: 'recreate', [claimRecoveryAfter]: 'soon' }, 'invalid'],
  ['a number without a unit', { [claimRecovery]: 'recreate', [claimRecoveryAfter]: '300' }, 'invalid'],
  ['less than conditions can tell', { [claimRecovery]: 'recreate', [claimRecoveryAfter]: '4s' }, 'invalid'],
])('settingsOf(): %s', (_, annotations, wanted) => {
  const settings = settingsOf({ metadata: { name: 'web', annotations } })
  expect(settings.kind === 'on' ? settings.afterMs : settings.kind).toBe(wanted)
})
