import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../api/errors.ts'
import { Logger } from '../../../base/logger.ts'
import { SeededRandom } from '../../../base/seeded-random.ts'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import { Denials, type Permission, permissionLacking } from './denials.ts'

const refused = (message: string, code = 403) => new ApiError(code, 'Forbidden', message)
const sentence = 'User "system:serviceaccount:a:b" cannot patch resource "statefulsets/status" in API group "apps"'
const patch: Permission = { verb: 'patch', resource: 'statefulsets/status', group: 'apps', sentence }
const create: Permission = { verb: 'create', resource: 'pods', group: '', sentence: 'User "b" cannot create resource "pods" in API group ""' }

describe('permissionLacking()', () => {
  test('reads the words of the server, in any namespace', () => {
    expect(permissionLacking(refused(`statefulsets.apps "w" is forbidden: ${sentence} in the namespace "one"`))).toEqual(patch)
    expect(permissionLacking(refused(`statefulsets.apps "x" is forbidden: ${sentence} at the cluster scope: RBAC: role.rbac.authorization.k8s.io "r" not found`))).toEqual(patch)
  })

  test.each([
    ['a quota', refused('pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1')],
    ['a webhook', refused('admission webhook "w" denied the request: no')],
    ['another code', refused(sentence, 401)],
    ['no answer', new Error(sentence)],
  ])('finds none in what %s says', (_, error) => expect(permissionLacking(error)).toBeUndefined())
})

function denials() {
  const counts: Record<string, number> = {}
  const lines: string[] = []
  const clock = new VirtualClock()
  const changed = ({ resource }: Permission, keys: number) => (counts[resource] = keys)
  const logger = new Logger((line) => lines.push(line), 'info', {}, () => clock.now())
  return { counts, lines, clock, all: new Denials({ clock, random: new SeededRandom(1), logger, changed }) }
}

describe('Denials', () => {
  test('retries one key every few seconds, and the others seldom', () => {
    const { all, counts } = denials()
    const delays = Array.from({ length: 10_000 }, (_, i) => all.denied(`n/${i}`, patch).delayMs)
    expect(delays[0]).toBeGreaterThanOrEqual(2000)
    expect(delays[0]).toBeLessThan(4000)
    // 10,000 keys take 500 to 1,000 s at 20 per second.
    expect(delays.at(-1)).toBeGreaterThanOrEqual(500_000)
    expect(all.denied('n/0', patch).delayMs).toBeLessThan(4000)
    expect(counts).toEqual({ 'statefulsets/status': 10_000 })
    expect(all.problems()).toEqual([`${sentence}: 10000 objects wait for it`])
  })

  test('retries all keys after a grant, in rounds of twice as many', () => {
    const { all, counts } = denials()
    for (let i = 0; i < 1000; i++) all.denied(`n/${i}`, patch)
    let retried = ['n/0']
    let rounds = 0
    for (; retried.length > 0 && rounds < 20; rounds++) retried = [...new Set(retried.flatMap((key) => all.ended(key, true)))]
    expect(rounds).toBeLessThanOrEqual(12)
    expect([counts, all.problems()]).toEqual([{ 'statefulsets/status': 0 }, []])
  })

  test('retries two more where a success was none of the permission', () => {
    const { all } = denials()
    for (let i = 0; i < 10; i++) all.denied(`n/${i}`, patch)
    const retried = all.ended('n/0', true)
    expect(retried).toEqual(['n/1', 'n/2'])
    expect(retried.flatMap((key) => all.denied(key, patch).retry)).toEqual([])
    expect(all.ended('n/5', true)).toEqual(['n/3', 'n/4'])
  })

  test('chooses another key to retry often when the owner of the first one is gone', () => {
    const { all } = denials()
    for (let i = 0; i < 1000; i++) all.denied(`n/${i}`, patch)
    expect(all.ended('n/7', false)).toEqual([])
    expect(all.ended('n/0', false)).toEqual(['n/1'])
    expect(all.denied('n/1', patch).delayMs).toBeLessThan(4000)
  })

  test('says once that a permission is lacking, and again at most every ten minutes', () => {
    const { all, lines, clock } = denials()
    for (let i = 0; i < 10; i++) all.denied(`n/${i}`, patch)
    for (let i = 0; i < 10; i++) all.ended(`n/${i}`, true)
    all.denied('n/0', patch)
    expect(lines).toHaveLength(1)
    clock.advance(600_000)
    all.denied('n/0', patch)
    expect(lines).toHaveLength(2)
  })

  test('takes the lack of another permission for a success', () => {
    const { all, counts } = denials()
    for (let i = 0; i < 5; i++) all.denied(`n/${i}`, patch)
    expect(all.denied('n/0', create).retry).toEqual(['n/1', 'n/2'])
    expect(counts).toEqual({ 'statefulsets/status': 4, pods: 1 })
    expect(all.problems()).toEqual([`${sentence}: 4 objects wait for it`, `${create.sentence}: 1 object waits for it`])
    all.close()
    expect(counts).toEqual({ 'statefulsets/status': 0, pods: 0 })
  })
})
