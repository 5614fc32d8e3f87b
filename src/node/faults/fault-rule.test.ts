import { describe, expect, it } from 'vitest'
import { parseFaults } from './fault-rule.ts'

const plan = (lines: string) => parseFaults(`faults:\n- ${lines.split('\n').join('\n  ')}`)

describe('parseFaults()', () => {
  it('reads a plan, and names what has no name', async () => {
    const text = `
      faults:
      - stage: csi
        pods: { namespace: default, name: web-*, selector: app=web }
        delay: 9s
      - { stage: csi, fail: true, times: 3 }
      - { name: quiet, stage: heartbeat, nodes: worker-1, fail: "no network", for: 2m }`
    expect(await parseFaults(text)).toEqual([
      { name: 'csi', stage: 'csi', pods: { namespace: 'default', name: 'web-*', selector: 'app=web' }, delay: '9s' },
      { name: 'csi-2', stage: 'csi', fail: true, times: 3 },
      { name: 'quiet', stage: 'heartbeat', nodes: 'worker-1', fail: 'no network', for: '2m' },
    ])
  })

  it.each([
    ['a stage that there is not', 'stage: disk\nfail: true', 'faults[0].stage: must be one of volumes, csi, network'],
    ['no stage', 'fail: true', 'faults[0].stage: must be one of'],
    ['nothing that happens', 'stage: image', 'faults[0]: needs a delay, or fail, or both'],
    ['a duration without a unit', 'stage: image\ndelay: "9"', 'faults[0].delay: must be a duration like 9s or 1m30s'],
    ['a selector that is none', 'stage: image\nfail: true\npods: { selector: "a in b" }', 'faults[0].pods: selector: '],
    ['pods by something else', 'stage: image\nfail: true\npods: { uid: x }', 'faults[0].pods: uid: '],
    ['a field that there is not', 'stage: image\nfail: true\ndealy: 9s', 'faults[0].dealy: is not a field of a fault'],
    ['a number that makes no sense', 'stage: image\nfail: true\ntimes: 0', 'faults[0].times: must be a number greater than 0'],
    ['a chance above one', 'stage: image\nfail: true\nchance: 5', 'faults[0].chance: must be greater than 0 and at most 1'],
    ['a driver of something else', 'stage: image\nfail: true\ndriver: disks', 'faults[0].driver: only volumes have one'],
    ['a time that is none', 'stage: image\nfail: true\nuntil: tomorrow', 'faults[0].until: must be a time'],
    ['a heartbeat that is late', 'stage: heartbeat\ndelay: 9s', 'faults[0]: a heartbeat can only fail'],
  ])('refuses %s', async (_what, lines, message) => {
    await expect(plan(lines)).rejects.toThrow(message)
  })

  it('refuses two of the same name, and what is no plan', async () => {
    await expect(parseFaults('faults:\n- {name: a, stage: image, fail: true}\n- {name: a, stage: csi, fail: true}')).rejects.toThrow('faults[1].name: a is there already')
    await expect(parseFaults('[]')).rejects.toThrow('a fault plan is a map with a list "faults"')
  })
})
