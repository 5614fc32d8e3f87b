import { describe, expect, it } from 'vitest'
import { faultLine, faultOf } from './command.ts'

describe('faultOf()', () => {
  it('takes from a command line what it says', () => {
    const flags = { pod: 'web-*', selector: 'app=web', nodes: 'worker-1', delay: '9s', fail: true as const, times: 3, for: 60_000 }
    expect(faultOf('csi', flags, Date.parse('2026-01-01T00:00:00Z'))).toEqual({
      name: 'csi', stage: 'csi', pods: { name: 'web-*', selector: 'app=web' }, nodes: 'worker-1', delay: '9s', fail: true, times: 3, until: '2026-01-01T00:01:00.000Z',
    })
    expect(faultOf('heartbeat', { name: 'quiet', fail: 'no' }, 0)).toEqual({ name: 'quiet', stage: 'heartbeat', fail: 'no' })
  })
})

describe('faultLine()', () => {
  it.each([
    [{ name: 'csi', stage: 'csi', pods: { name: 'web-*', namespace: 'default', selector: 'app=web' }, delay: '9s', times: 3 } as const, 'csi\tcsi\tpods default/web-* with app=web, 9s late, 3 times'],
    [{ name: 'quiet', stage: 'heartbeat', nodes: 'worker-1', fail: 'no', for: '1m' } as const, 'quiet\theartbeat\ton worker-1, fails: no, for 1m'],
    [{ name: 'a', stage: 'network', delay: '1s', fail: true } as const, 'a\tnetwork\tall pods, 1s late and fails'],
    [{ name: 'csi', stage: 'csi', driver: 'disks.*', fail: true } as const, 'csi\tcsi\tall pods volumes of disks.*, fails'],
    [{ name: 'image', stage: 'image', fail: true, chance: 0.5 } as const, 'image\timage\tall pods, fails, with chance 0.5'],
  ])('says in one line what %j is', (rule, line) => {
    expect(faultLine(rule)).toBe(line)
  })
})
