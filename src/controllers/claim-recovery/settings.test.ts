import { expect, it } from 'vitest'
import { claimRecovery, claimRecoveryAfter, claimRecoveryLimit, claimRecoveryRetained } from '../../api/kinds/claim-recovery.ts'
import { settingsOf } from './settings.ts'

it.each<[string, Record<string, string>, string | number]>([
  ['a set that asks for nothing', {}, 'off'],
  ['one that only says after how long', { [claimRecoveryAfter]: '5m' }, 'off'],
  ['five minutes if nothing is said', { [claimRecovery]: 'recreate' }, 300_000],
  ['as long as is said', { [claimRecovery]: 'recreate', [claimRecoveryAfter]: '1m30s' }, 90_000],
  ['something else than recreate', { [claimRecovery]: 'true' }, 'invalid'],
  ['a dry run', { [claimRecovery]: 'observe' }, 'observe'],
  ['no limit', { [claimRecovery]: 'recreate', [claimRecoveryLimit]: '0' }, 'invalid'],
  ['a limit that is no number', { [claimRecovery]: 'observe', [claimRecoveryLimit]: 'many' }, 'invalid'],
  ['half a consent', { [claimRecovery]: 'recreate', [claimRecoveryRetained]: 'yes' }, 'invalid'],
  ['no duration', { [claimRecovery]: 'recreate', [claimRecoveryAfter]: 'soon' }, 'invalid'],
  ['a number without a unit', { [claimRecovery]: 'recreate', [claimRecoveryAfter]: '300' }, 'invalid'],
  ['less than conditions can tell', { [claimRecovery]: 'recreate', [claimRecoveryAfter]: '4s' }, 'invalid'],
])('settingsOf(): %s', (_, annotations, wanted) => {
  const settings = settingsOf({ metadata: { name: 'web', annotations } })
  expect(settings.kind === 'on' ? settings.afterMs : settings.kind).toBe(wanted)
})

it('settingsOf() reads limit and consent', () => {
  const annotations = { [claimRecovery]: 'recreate', [claimRecoveryLimit]: '3', [claimRecoveryRetained]: 'recreate' }
  expect(settingsOf({ metadata: { name: 'web', annotations } })).toEqual({ kind: 'on', afterMs: 300_000, limit: 3, allowsRetained: true })
  const few = { [claimRecovery]: 'recreate' }
  expect(settingsOf({ metadata: { name: 'web', annotations: few } })).toMatchObject({ limit: 10, allowsRetained: false })
})
