import { describe, expect, it } from 'vitest'
import { ResourceTrial } from '../resource-trial.ts'
import { jobs } from './jobs.ts'

const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } }
const draft = (more: object = {}, metadata: Record<string, unknown> = {}) => ({ metadata, spec: { template, ...more } })
const indexed = { completionMode: 'Indexed', completions: 4, parallelism: 2 }
const onExitCodes = { operator: 'In', values: [1, 2] }
const trial = new ResourceTrial(jobs)

const generated = {
  'job-name': 'x',
  'batch.kubernetes.io/job-name': 'x',
  'controller-uid': 'u',
  'batch.kubernetes.io/controller-uid': 'u',
}

describe('jobs: creation', () => {
  it('fills in what is left out', () => {
    expect(trial.created(draft()).spec).toMatchObject({
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      podReplacementPolicy: 'TerminatingOrFailed',
    })
  })

  it('leaves completions open where only parallelism is given', () => {
    expect(trial.created(draft({ parallelism: 3 })).spec.completions).toBeUndefined()
  })

  it('takes other defaults for indexes that fail by themselves and for a policy on failures', () => {
    const { spec } = trial.created(draft({ ...indexed, backoffLimitPerIndex: 1, podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'T' }] }] } }))
    expect(spec).toMatchObject({ backoffLimit: 2147483647, podReplacementPolicy: 'Failed' })
    expect(spec.podFailurePolicy.rules[0].onPodConditions).toEqual([{ type: 'T', status: 'True' }])
  })

  it('makes a selector and labels of its own', () => {
    const obj = trial.created(draft())
    expect(obj.spec.selector).toEqual({ matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } })
    expect(obj.spec.template.metadata.labels).toEqual(generated)
    expect(obj.metadata.labels).toEqual(generated)
  })

  it.each([
    ['labels of the template become the Job\'s, with those made', { labels: { t: '1' } }, {}, { t: '1', ...generated }],
    ['labels of its own are kept, even if they are the template\'s', { labels: { t: '1' } }, { labels: { t: '1' } }, { t: '1' }],
  ])('%s', (_, templateMeta, metadata, labels) => {
    expect(trial.created(draft({ template: { ...template, metadata: templateMeta } }, metadata)).metadata.labels).toEqual(labels)
  })

  it('leaves the selector to users who say so', () => {
    const obj = trial.created(draft({ manualSelector: true, selector: {} }))
    expect(obj.spec.selector).toEqual({})
    expect(obj.metadata.labels).toBeUndefined()
    expect(trial.refusals(draft({ manualSelector: true, selector: {} }))).toEqual([])
  })

  it.each([
    ['a plain one', {}, []],
    ['no restartPolicy', { template: { spec: { containers: template.spec.containers } } }, [
      'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ]],
    ['a selector of its own', { selector: { matchLabels: { a: 'b' } } }, [
      'spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"u"}}: `selector` not auto-generated',
      'spec.template.metadata.labels: Invalid value: {"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"x","controller-uid":"u","job-name":"x"}: `selector` does not match template `labels`',
    ]],
    ['a label that is another Job\'s', { template: { ...template, metadata: { labels: { 'job-name': 'y' } } } }, [
      'spec.template.metadata.labels[job-name]: Invalid value: {"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"x","controller-uid":"u","job-name":"y"}: must be \'x\'',
    ]],
    ['an unknown completionMode', { completionMode: 'Sorted' }, [
      'spec.completionMode: Unsupported value: "Sorted": supported values: "NonIndexed", "Indexed"',
    ]],
    ['Indexed without completions', { completionMode: 'Indexed', parallelism: 1 }, ['spec.completions: Required value: when completion mode is Indexed']],
    ['too much at a time', { ...indexed, parallelism: 100001 }, [
      'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
    ]],
    ['many indexes without a bound for failures', { ...indexed, completions: 100001, parallelism: 10001, backoffLimitPerIndex: 1 }, [
      'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
      'spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
    ]],
    ['limits per index without indexes', { backoffLimitPerIndex: 1, maxFailedIndexes: 1 }, [
      'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
      'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
    ]],
    ['a manager without a domain', { managedBy: 'me' }, [
      'spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")',
    ]],
    ['a manager with an odd path', { managedBy: 'example.com/a b' }, [
      "spec.managedBy: Invalid value: \"a b\": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
    ]],
    ['replacing pods that still end, with a policy on failures', { podReplacementPolicy: 'TerminatingOrFailed', podFailurePolicy: { rules: [] } }, [
      'spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"',
    ]],
    ['a rule without an action', { podFailurePolicy: { rules: [{ onExitCodes }] } }, [
      'spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
    ]],
    ['a rule about nothing', { podFailurePolicy: { rules: [{ action: 'FailJob' }] } }, [
      'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
    ]],
    ['a rule about an index where there is none', { podFailurePolicy: { rules: [{ action: 'FailIndex', onExitCodes }] } }, [
      'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
    ]],
    ['exit codes that are odd in every way', { podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [3, 0, 3], containerName: 'z' } }] } }, [
      'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "z": must be one of the container or initContainer names in the pod template',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 3',
      'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,0,3]: must be ordered',
    ]],
    ['success before all is done, without indexes', { successPolicy: { rules: [{ succeededCount: 1 }] } }, [
      'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: requires indexed completion mode',
    ]],
    ['success by more than there is', { ...indexed, successPolicy: { rules: [{ succeededIndexes: '1-2', succeededCount: 5 }, {}] } }, [
      'spec.successPolicy.rules[0].succeededCount: Invalid value: 5: must be less than or equal to 4 (the number of specified completions)',
      'spec.successPolicy.rules[0].succeededCount: Invalid value: 5: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
      'spec.successPolicy.rules[1]: Required value: at least one of succeededCount or succeededIndexes must be specified',
    ]],
  ])('says of %s: %j', (_, more, refusals) => {
    expect(trial.refusals(draft(more))).toEqual(refusals)
  })

  it('refuses a name that is too long for the pods of an Indexed Job', () => {
    const name = 'a'.repeat(62)
    expect(trial.refusals(draft(indexed, { name }))).toEqual([
      `metadata.name: Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-3`,
    ])
  })

  it('warns of more indexes than can be told apart', () => {
    expect(trial.warnings(trial.created(draft({ completionMode: 'Indexed', completions: 100001, parallelism: 10001 })))).toEqual([
      expect.stringMatching(/^spec: In Indexed Jobs with a number of completions higher than 10\^5/),
    ])
  })
})

describe('jobs: update', () => {
  const change = (old: object, more: object) => {
    const was = trial.created(draft(old))
    return trial.updateRefusals(was, { spec: { ...was.spec, ...more } })
  }

  it.each([
    ['suspend', {}, { suspend: true }, []],
    ['completions', {}, { completions: 2 }, ['spec.completions: Invalid value: 2: field is immutable']],
    ['completions and parallelism of an Indexed Job', indexed, { completions: 6, parallelism: 6 }, []],
    ['completions alone of an Indexed Job', indexed, { completions: 6 }, [
      'spec.completions: Invalid value: 6: can only be modified in tandem with spec.parallelism',
    ]],
    ['managedBy', {}, { managedBy: 'example.com/me' }, ['spec.managedBy: Invalid value: "example.com/me": field is immutable']],
    ['podFailurePolicy', {}, { podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes }] }, podReplacementPolicy: 'Failed' }, [
      'spec.podFailurePolicy: Invalid value: {"Rules":[{"Action":"FailJob","OnExitCodes":{"ContainerName":null,"Operator":"In","Values":[1,2]},"OnPodConditions":null}]}: field is immutable',
    ]],
  ])('of %s: %j', (_, old, more, refusals) => {
    expect(change(old, more)).toEqual(refusals)
  })

  const resources = { requests: { cpu: '1' } }
  const suspended = { type: 'Suspended', status: 'True' }
  const placed = { containers: [{ name: 'c', image: 'i', resources }], restartPolicy: 'Never', nodeSelector: { n: '1' } }

  it.each([
    ['runs', { suspend: false }, {}, false],
    ['is suspended and never started', { suspend: true }, {}, true],
    ['is suspended and has no pods left', { suspend: true }, { startTime: '2024-01-01T00:00:00Z', conditions: [suspended] }, true],
    ['is suspended and not known to have stopped', { suspend: true }, { startTime: '2024-01-01T00:00:00Z' }, false],
    ['is suspended and has pods without a start', { suspend: true }, { active: 1 }, false],
    ['is to run again', { suspend: false }, { startTime: '2024-01-01T00:00:00Z', conditions: [suspended] }, false],
    ['is suspended and still has pods', { suspend: true }, { startTime: '2024-01-01T00:00:00Z', active: 1 }, false],
  ])('where and with what pods run, while the Job %s', (_, old, status, isAllowed) => {
    const was = { ...trial.created(draft(old)), status }
    const next = { ...was.spec, template: { ...was.spec.template, spec: placed } }
    const refusals = trial.updateRefusals(was, { spec: next })
    expect(refusals.map((r) => r.split(':')[0])).toEqual(isAllowed ? [] : ['spec.template'])
  })

  it('does not let the image change even while suspended', () => {
    const was = trial.created(draft({ suspend: true }))
    const next = { ...was.spec, template: { ...was.spec.template, spec: { ...placed, containers: [{ name: 'c', image: 'j' }] } } }
    expect(trial.updateRefusals(was, { spec: next })).toEqual([expect.stringMatching(/^spec.template: .*field is immutable$/)])
  })
})

describe('jobs: status', () => {
  const start = '2024-01-01T00:00:00Z'
  const end = '2024-01-01T00:05:00Z'
  const condition = (type: string) => ({ type, status: 'True' })
  const complete = { startTime: start, completionTime: end, succeeded: 1, conditions: [condition('SuccessCriteriaMet'), condition('Complete')] }
  const failed = { startTime: start, failed: 1, conditions: [condition('FailureTarget'), condition('Failed')] }

  it.each([
    ['complete', {}, {}, complete, []],
    ['failed', {}, {}, failed, []],
    ['complete without its criteria', {}, {}, { ...complete, conditions: [condition('Complete')] }, [
      'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    ]],
    ['complete and failed', {}, {}, { ...complete, conditions: [...complete.conditions, ...failed.conditions] }, [
      'status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions',
      'status.conditions: Invalid value: cannot set Complete=True and FailureTarget=true conditions',
      'status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions',
      'status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
    ]],
    ['complete before it started', {}, {}, { ...complete, startTime: end, completionTime: start }, [
      'status.completionTime: Invalid value: "2024-01-01T00:00:00Z": must be equal to or after `startTime`',
    ]],
    ['finished with pods', {}, {}, { ...complete, active: 1, terminating: 1, uncountedTerminatedPods: { failed: ['u'] } }, [
      'status.active: Invalid value: 1: active>0 is invalid for finished job',
      'status.uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["u"]}: must be empty for finished job',
      'status.terminating: Invalid value: 1: terminating>0 is invalid for finished job',
    ]],
    ['more ready than active', {}, {}, { active: 1, ready: 2 }, ['status.ready: Invalid value: 2: cannot set more ready pods than active']],
    ['complete no more', {}, complete, { ...complete, completionTime: undefined, conditions: [condition('SuccessCriteriaMet')] }, [
      'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
    ]],
    ['another time of completion', {}, complete, { ...complete, completionTime: '2024-01-01T00:06:00Z' }, [
      'status.completionTime: Invalid value: "2024-01-01T00:06:00Z": field is immutable',
    ]],
    ['another start while it runs', {}, { startTime: start }, { startTime: end }, [
      'status.startTime: Invalid value: "2024-01-01T00:05:00Z": field is immutable for unsuspended job once set',
    ]],
    ['another start while suspended', { suspend: true }, { startTime: start }, { startTime: end }, []],
    ['fewer pods than there were', {}, { failed: 2, succeeded: 2 }, { failed: 1, succeeded: 1 }, [
      'status.failed: Invalid value: 1: cannot decrease the failed counter',
      'status.succeeded: Invalid value: 1: cannot decrease the succeeded counter',
    ]],
    ['fewer successes of a Job that was scaled down', { ...indexed, parallelism: 4 }, { succeeded: 2 }, { succeeded: 1 }, []],
    ['indexes that fail and succeed', { ...indexed, backoffLimitPerIndex: 1 }, {}, { completedIndexes: '0-2', failedIndexes: '2-3' }, [
      'status.failedIndexes: Invalid value: "2-3": failedIndexes and completedIndexes overlap at index: 2',
    ]],
    ['indexes of a Job without', {}, {}, { completedIndexes: '0' }, [
      'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
    ]],
    ['a pod counted twice', {}, {}, { uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['a'] } }, [
      'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
      'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
    ]],
  ])('says of one that is %s: %j', (_, more, was, status, refusals) => {
    expect(trial.statusRefusals({ ...trial.created(draft(more)), status: was }, status)).toEqual(refusals)
  })

  it('does not speak of what was wrong before and is left as it is', () => {
    const odd = { ...complete, active: 1 }
    expect(trial.statusRefusals({ ...trial.created(draft()), status: odd }, { ...odd, failed: 3 })).toEqual([])
  })

  it.each([
    ['Complete', { conditions: [condition('Complete')], succeeded: 1, startTime: start, completionTime: end }, { Status: 'Complete', Completions: '1/1', Duration: '5m' }],
    ['Suspended', { conditions: [condition('Suspended')] }, { Status: 'Suspended', Completions: '0/1', Duration: '' }],
    ['FailureTarget', { conditions: [condition('FailureTarget')], startTime: start }, { Status: 'FailureTarget', Duration: '60s' }],
    ['Running', undefined, { Status: 'Running', Selector: 'batch.kubernetes.io/controller-uid=u' }],
  ])('is shown as %s', (_, status, cells) => {
    const aMinuteLater = new ResourceTrial(jobs, {}, Date.parse(start) + 60_000)
    expect(aMinuteLater.cells({ ...trial.created(draft()), status })).toMatchObject(cells)
  })

  it('is shown with how many run at a time where completions are open', () => {
    expect(trial.cells(trial.created(draft({ parallelism: 3 })))).toMatchObject({ Completions: '0/1 of 3' })
  })
})
