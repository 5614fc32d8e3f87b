import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseSlos, thresholdsPast } from './slo-file.ts'

const dayMs = 24 * 3_600_000
const whole = ['name: ready', 'indicator: creation-latency', 'objective: 99.5', 'threshold: 10s', 'window: 30d']
/** The objective of `whole` with lines instead of those of the same field, or without a field: `-window`. */
const edited = (...edits: string[]) => {
  const fieldOf = (line: string) => line.replace(/^-/, '').split(':')[0]
  const lines = [...whole.filter((line) => !edits.some((edit) => fieldOf(edit) === fieldOf(line))), ...edits.filter((edit) => !edit.startsWith('-'))]
  return parseSlos(`slos:\n- ${lines.join('\n').split('\n').join('\n  ')}`)
}

describe('parseSlos()', () => {
  it('reads an objective and says what it did not', async () => {
    expect(await edited()).toEqual([
      { name: 'ready', indicator: 'creation-latency', objectivePercent: 99.5, thresholdMs: 10_000, windowMs: 30 * dayMs, selector: {}, groupBy: [], maxGroups: 100 },
    ])
  })

  it('reads everything that can be said', async () => {
    const [slo] = await edited(
      'description: In time', 'objective: 99.9%', 'threshold: 1m30s', 'window: 4w', 'groupBy: [namespace, storageClasses, "label:app.kubernetes.io/name"]', 'maxGroups: 7',
      'selector: { namespaces: [a, b], labels: "app in (x, y),!canary", runtimeClasses: [kata], storageClasses: [fast] }',
    )
    expect(slo).toEqual({
      name: 'ready', description: 'In time', indicator: 'creation-latency', objectivePercent: 99.9, thresholdMs: 90_000, windowMs: 28 * dayMs,
      selector: { namespaces: ['a', 'b'], labels: 'app in (x, y),!canary', runtimeClasses: ['kata'], storageClasses: ['fast'] },
      groupBy: ['namespace', 'storageClasses', 'label:app.kubernetes.io/name'], maxGroups: 7,
    })
  })

  it('reads the example', async () => {
    const slos = await parseSlos(readFileSync(new URL('../../../examples/slo.yaml', import.meta.url), 'utf8'))
    expect(slos.map(({ name }) => name)).toEqual(['sandbox-ready', 'sandbox-succeeds', 'payments-ready', 'sandbox-gone'])
  })

  it.each([
    ['no name', ['-name'], 'slos[0].name: is required'],
    ['a name that is no label', ['name: Ready!'], 'slos[0].name: must be of lower case letters'],
    ['no window', ['-window'], 'slos[0].window: is required'],
    ['a window without a unit', ['window: 30'], 'slos[0].window: must be a length of time such as 30d'],
    ['a window too short for an alert', ['window: 59m'], 'slos[0].window: must be from 1h to 366d'],
    ['an objective as a share', ['objective: 0.995'], 'slos[0].objective: must be a percentage such as 99.5, at least 1 and less than 100'],
    ['an objective that leaves no budget', ['objective: 100%'], 'slos[0].objective: must be a percentage'],
    ['an objective in words', ['objective: high'], 'slos[0].objective: must be a percentage'],
    ['an indicator that there is not', ['indicator: cpu'], 'slos[0].indicator: must be one of creation-latency, creation-success, termination-latency'],
    ['latency without a threshold', ['-threshold'], 'slos[0].threshold: is required for creation-latency'],
    ['success with a threshold', ['indicator: creation-success'], 'slos[0].threshold: has no meaning for creation-success'],
    ['a threshold without a unit', ['threshold: "10"'], 'slos[0].threshold: must be a duration such as 5s'],
    ['a threshold of nothing', ['threshold: 0s'], 'slos[0].threshold: must be a duration'],
    ['a field that there is not', ['groupby: [namespace]'], 'slos[0].groupby: is not a field; the fields are name, description'],
    ['a group that there is not', ['groupBy: [pod]'], 'slos[0].groupBy: must be a list of any of namespace, runtimeClass, storageClasses, volumes, label:KEY, annotation:KEY'],
    ['a label without a key', ['groupBy: ["label:"]'], 'slos[0].groupBy: must be a list of any of'],
    ['groups that are one in metrics', ['groupBy: ["label:a.b", "label:a-b"]'], 'slos[0].groupBy: two of them become label_a_b in metrics'],
    ['no groups at all', ['maxGroups: 0'], 'slos[0].maxGroups: must be a number from 1 to 1000'],
    ['a selector that is no map', ['selector: app=web'], 'slos[0].selector: must be a map'],
    ['a selector by something else', ['selector: { pods: [a] }'], 'slos[0].selector.pods: is not a field; the fields are namespaces, labels'],
    ['a label selector that is none', ['selector: { labels: "a in b" }'], 'slos[0].selector.labels: unable to parse requirement'],
    ['names that are no list', ['selector: { namespaces: default }'], 'slos[0].selector.namespaces: must be a list of names'],
    ['a field that is said twice', ['window: 30d\nwindow: 7d'], 'line 7: key "window" already set in map'],
  ])('refuses %s', async (_what, edits, message) => {
    await expect(edited(...edits)).rejects.toThrow(message)
  })

  it('names everything that is wrong at once', async () => {
    await expect(edited('objective: 100', 'window: soon')).rejects.toThrow(/^slos\[0\]\.objective: .*\nslos\[0\]\.window: /)
  })

  it('refuses two of the same name, and what is no file of objectives', async () => {
    await expect(parseSlos(`slos:\n- { ${whole.join(', ')} }\n- { ${whole.join(', ')} }`)).rejects.toThrow('slos[1].name: ready is slos[0] already')
    await expect(parseSlos('[]')).rejects.toThrow('a file of objectives is a map with a list "slos"')
    await expect(parseSlos('slos: []')).rejects.toThrow('a file of objectives is a map with a list "slos"')
    await expect(parseSlos('slos: [1]\nrules: []')).rejects.toThrow('rules: is not a field of the file\nslos[0]: must be a map')
  })
})

describe('thresholdsPast()', () => {
  it.each<[string, string[], number]>([
    ['a threshold that is the timeout', ['threshold: 5m'], 0],
    ['a threshold above the timeout', ['threshold: 301s'], 1],
    ['a termination, which has no timeout', ['indicator: termination-latency', 'threshold: 10m'], 0],
  ])('%s', async (_, edits, problems) => {
    expect(thresholdsPast(await edited(...edits), 300_000)).toHaveLength(problems)
  })

  it('says which, and why', async () => {
    expect(thresholdsPast(await edited('threshold: 10m'), 300_000)).toEqual([
      'slos[0].threshold: 10m0s is more than the creation timeout of 5m0s, after which a pod has failed',
    ])
  })
})
