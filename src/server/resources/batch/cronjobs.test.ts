import { describe, expect, it } from 'vitest'
import { ResourceTrial } from '../resource-trial.ts'
import { cronjobs } from './cronjobs.ts'

const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } }
const job = (more: object = {}) => ({ jobTemplate: { spec: { template, ...more } } })
const draft = (more: object = {}, metadata: Record<string, unknown> = {}) => ({ metadata, spec: { schedule: '*/5 * * * *', ...job(), ...more } })
const trial = new ResourceTrial(cronjobs)

describe('cronjobs', () => {
  it('fills in its own fields and the pods\', not those of the Job', () => {
    const { spec } = trial.created(draft())
    expect(spec).toMatchObject({ concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 })
    expect(Object.keys(spec.jobTemplate.spec)).toEqual(['template'])
    expect(spec.jobTemplate.spec.template.spec.dnsPolicy).toBe('ClusterFirst')
  })

  it.each([
    ['a plain one', {}, []],
    ['no schedule', { schedule: '' }, ['spec.schedule: Required value']],
    ['a bad schedule', { schedule: '60 * * * *' }, ['spec.schedule: Invalid value: "60 * * * *": end of range (60) above maximum (59): 60']],
    ['a zone in the schedule', { schedule: 'TZ=UTC 0 * * * *' }, [
      'spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ]],
    ['an unknown zone', { timeZone: 'Mars/Olympus' }, ['spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus']],
    ['an unknown policy', { concurrencyPolicy: 'Queue' }, [
      'spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"',
    ]],
    ['a selector for the Job', job({ selector: { matchLabels: { a: 'b' } } }), [
      'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
    ]],
    ['manualSelector for the Job', job({ manualSelector: true }), [
      'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
    ]],
    ['negative numbers', { startingDeadlineSeconds: -1, failedJobsHistoryLimit: -1 }, [
      'spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
    ]],
  ])('says of %s: %j', (_, more, refusals) => {
    expect(trial.refusals(draft(more))).toEqual(refusals)
  })

  it('leaves room in its name for the time, and asks for it at creation only', () => {
    const obj = draft({}, { name: 'a'.repeat(53) })
    expect(trial.refusals(obj)).toEqual([`metadata.name: Invalid value: "${'a'.repeat(53)}": must be no more than 52 characters`])
    expect(trial.updateRefusals(trial.created(obj), obj)).toEqual([])
  })

  it('lets an old schedule keep its zone, without a second one', () => {
    const old = trial.created(draft({ schedule: 'TZ=UTC 0 * * * *' }))
    expect(trial.updateRefusals(old, draft({ schedule: 'TZ=UTC 1 * * * *' }))).toEqual([])
    expect(trial.updateRefusals(old, draft({ schedule: 'TZ=UTC 1 * * * *', timeZone: 'UTC' }))).toEqual([
      'spec.schedule: Invalid value: "TZ=UTC 1 * * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule',
    ])
  })

  it('is shown with when it last ran and what of it runs', () => {
    const now = Date.parse('2024-01-01T01:00:00Z')
    const obj = { ...trial.created(draft({ timeZone: 'UTC' })), status: { active: [{ name: 'j' }], lastScheduleTime: '2024-01-01T00:58:30Z' } }
    expect(new ResourceTrial(cronjobs, {}, now).cells(obj)).toMatchObject({
      Schedule: '*/5 * * * *',
      Timezone: 'UTC',
      Suspend: 'False',
      Active: 1,
      'Last Schedule': '90s',
      Containers: 'c',
      Selector: '<none>',
    })
  })
})
