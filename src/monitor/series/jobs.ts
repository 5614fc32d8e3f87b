import type { CronJob, Job } from '../../api/generated/types.ts'
import { parseCronSchedule } from '../../api/kinds/workloads/cron-schedule.ts'
import { nextDueTime } from '../../api/kinds/workloads/cron-times.ts'
import { type Sample, type StateFamily, ownerSamples, statusSamples, unixTime } from './state-series.ts'

// Names, labels and help texts are those of kube-state-metrics.

const failureReasons = ['BackoffLimitExceeded', 'DeadlineExceeded', 'Evicted']

const conditionOf = ({ status }: Job, type: string) => status?.conditions?.find((c) => c.type === type)

const whether = (job: Job, type: string): Sample[] | undefined => {
  const condition = conditionOf(job, type)
  return condition && statusSamples('condition', condition.status)
}

/** The number of failed pods without a label until a reason is known, then 1 for that reason. */
function failed(job: Job): number | Sample[] {
  const pods = job.status?.failed ?? 0
  if (pods === 0) return 0
  const reason = conditionOf(job, 'Failed')?.reason
  const known =
    reason === undefined ? [] : failureReasons.map((one): Sample => [{ reason: one }, one === reason ? 1 : 0])
  return reason !== undefined && failureReasons.includes(reason) ? known : [...known, [{ reason: '' }, pods]]
}

/** In the cluster's time zone, which is assumed to be UTC for CronJobs without one. */
function nextScheduleTime({ metadata, spec, status }: CronJob): number | undefined {
  const sinceMs = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '')
  if (spec.suspend || Number.isNaN(sinceMs)) return undefined
  const dueMs = nextDueTime(parseCronSchedule(spec.schedule), sinceMs, spec.timeZone ?? 'UTC')
  return dueMs === undefined ? undefined : dueMs / 1000
}

export const jobFamilies: readonly StateFamily<Job>[] = [
  { name: 'kube_job_info', help: 'Information about the job.', of: () => 1 },
  {
    name: 'kube_job_spec_parallelism',
    help: 'Maximum number of pods that run at the same time.',
    of: ({ spec }) => spec.parallelism,
  },
  { name: 'kube_job_spec_completions', help: 'Number of pods that must succeed.', of: ({ spec }) => spec.completions },
  {
    name: 'kube_job_spec_active_deadline_seconds',
    help: 'Maximum duration of the job.',
    of: ({ spec }) => spec.activeDeadlineSeconds,
  },
  {
    name: 'kube_job_status_active',
    help: 'Number of pods that are neither finished nor terminating.',
    of: ({ status }) => status?.active ?? 0,
  },
  { name: 'kube_job_status_ready', help: 'Number of ready pods.', of: ({ status }) => status?.ready ?? 0 },
  {
    name: 'kube_job_status_succeeded',
    help: 'Number of succeeded pods.',
    of: ({ status }) => status?.succeeded ?? 0,
  },
  { name: 'kube_job_status_failed', help: 'Number of failed pods, and the reason why the job failed.', of: failed },
  {
    name: 'kube_job_status_start_time',
    help: 'Unix time at which the job was started.',
    of: ({ status }) => unixTime(status?.startTime),
  },
  {
    name: 'kube_job_status_completion_time',
    help: 'Unix time at which the job completed.',
    of: ({ status }) => unixTime(status?.completionTime),
  },
  {
    name: 'kube_job_status_suspended',
    help: '1 if the job is suspended.',
    of: (job) => {
      const condition = conditionOf(job, 'Suspended')
      return condition && (condition.status === 'True' ? 1 : 0)
    },
  },
  { name: 'kube_job_complete', help: 'Status of the condition Complete.', of: (job) => whether(job, 'Complete') },
  { name: 'kube_job_failed', help: 'Status of the condition Failed.', of: (job) => whether(job, 'Failed') },
  {
    name: 'kube_job_owner',
    help: 'Information about the owner.',
    of: ({ metadata }) => ownerSamples(metadata.ownerReferences),
  },
]

export const cronJobFamilies: readonly StateFamily<CronJob>[] = [
  {
    name: 'kube_cronjob_info',
    help: 'Schedule, time zone and concurrency policy of the cron job.',
    of: ({ spec }) => [
      [
        {
          schedule: spec.schedule,
          concurrency_policy: spec.concurrencyPolicy ?? '',
          timezone: spec.timeZone ?? 'local',
        },
        1,
      ],
    ],
  },
  {
    name: 'kube_cronjob_spec_suspend',
    help: '1 if the cron job is suspended.',
    of: ({ spec }) => (spec.suspend ? 1 : 0),
  },
  {
    name: 'kube_cronjob_spec_starting_deadline_seconds',
    help: 'Deadline for starting a job after its scheduled time.',
    of: ({ spec }) => spec.startingDeadlineSeconds,
  },
  {
    name: 'kube_cronjob_spec_successful_job_history_limit',
    help: 'Number of succeeded jobs to keep.',
    of: ({ spec }) => spec.successfulJobsHistoryLimit,
  },
  {
    name: 'kube_cronjob_spec_failed_job_history_limit',
    help: 'Number of failed jobs to keep.',
    of: ({ spec }) => spec.failedJobsHistoryLimit,
  },
  {
    name: 'kube_cronjob_status_active',
    help: 'Number of running jobs.',
    of: ({ status }) => status?.active?.length ?? 0,
  },
  {
    name: 'kube_cronjob_next_schedule_time',
    help: 'Unix time of the next scheduled job, unless the cron job is suspended.',
    of: nextScheduleTime,
  },
  {
    name: 'kube_cronjob_status_last_schedule_time',
    help: 'Unix time of the last scheduled job.',
    of: ({ status }) => unixTime(status?.lastScheduleTime),
  },
  {
    name: 'kube_cronjob_status_last_successful_time',
    help: 'Unix time at which a job last succeeded.',
    of: ({ status }) => unixTime(status?.lastSuccessfulTime),
  },
]
