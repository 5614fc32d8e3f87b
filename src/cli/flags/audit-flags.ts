import { type Command, InvalidArgumentError, Option } from 'commander'
import type { AuditBackendFlags, AuditFlags } from '../../cluster/index.ts'
import { bool, count, durationOption, something } from './flag-values.ts'

type Backend = 'log' | 'webhook'

/** Kubernetes' defaults. */
const defaults = {
  log: { mode: 'blocking', maxBatchSize: 1, maxBatchWait: '1ms', throttle: false },
  webhook: { mode: 'batch', maxBatchSize: 400, maxBatchWait: '30s', throttle: true },
} as const

const whole = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('must be a number, not negative')
  return Number(text)
}

const rate = (text: string): number => {
  if (!(Number(text) > 0) || Number(text) === Infinity) throw new InvalidArgumentError('must be a number above 0')
  return Number(text)
}

/** Adds the audit flags of kube-apiserver, with its defaults. */
export function addAuditFlags(command: Command): Command {
  command
    .option('--audit-policy-file <file>', 'audit.k8s.io/v1 Policy: the level at which requests are recorded', something)
    .option('--audit-log-path <file>', 'file for audit events, as lines of JSON; - is standard output', something)
    .option('--audit-log-maxage <days>', 'days for which rotated audit logs are kept; 0 keeps all', whole, 0)
    .option('--audit-log-maxbackup <number>', 'number of rotated audit logs to keep; 0 keeps all', whole, 0)
    .option(
      '--audit-log-maxsize <megabytes>',
      'size in megabytes at which the audit log is rotated; 0 is 100',
      whole,
      0,
    )
  addBackendFlags(command, 'log')
  command
    .option('--audit-webhook-config-file <file>', 'kubeconfig of a server that receives audit events', something)
    .addOption(durationOption('--audit-webhook-initial-backoff <duration>', 'delay before the first retry', '10s'))
  return addBackendFlags(command, 'webhook')
}

function addBackendFlags(command: Command, name: Backend): Command {
  const { mode, maxBatchSize, maxBatchWait, throttle } = defaults[name]
  const flag = (rest: string) => `--audit-${name}-${rest}`
  return command
    .addOption(
      new Option(
        flag('mode <mode>'),
        'batch: requests do not wait for audit events; blocking: they do; blocking-strict: a lost first event fails them',
      )
        .choices(['batch', 'blocking', 'blocking-strict'])
        .default(mode),
    )
    .option(flag('batch-buffer-size <number>'), 'capacity of the buffer; further events are dropped', count, 10_000)
    .option(flag('batch-max-size <number>'), 'maximum number of events per batch', count, maxBatchSize)
    .addOption(durationOption(flag('batch-max-wait <duration>'), 'time to wait for a full batch', maxBatchWait))
    .option(flag('batch-throttle-enable [bool]'), 'limit the rate of batches', bool, throttle)
    .option(flag('batch-throttle-qps <rate>'), 'average number of batches per second', rate, 10)
    .option(flag('batch-throttle-burst <number>'), 'number of batches that may be sent at once', count, 15)
    .option(flag('truncate-enabled [bool]'), 'truncate large events and batches', bool, false)
    .option(flag('truncate-max-event-size <number>'), 'maximum size of an event in bytes', whole, 102_400)
    .option(flag('truncate-max-batch-size <number>'), 'maximum size of a batch in bytes', whole, 10_485_760)
}

type Parsed = Record<string, unknown>

/** Reads the audit flags; undefined without a policy. */
export function readAuditFlags(flags: Parsed): AuditFlags | undefined {
  const policyFile = flags.auditPolicyFile as string | undefined
  if (policyFile === undefined) return undefined
  const logPath = flags.auditLogPath as string | undefined
  const webhookFile = flags.auditWebhookConfigFile as string | undefined
  const megabytes = (flags.auditLogMaxsize as number) || 100
  return {
    policyFile,
    log:
      logPath === undefined
        ? undefined
        : {
            path: logPath,
            maxAgeMs: (flags.auditLogMaxage as number) * 86_400_000,
            maxBackups: flags.auditLogMaxbackup as number,
            maxBytes: megabytes * 1024 * 1024,
            ...backendFlags(flags, 'Log'),
          },
    webhook:
      webhookFile === undefined
        ? undefined
        : {
            configFile: webhookFile,
            initialBackoffMs: flags.auditWebhookInitialBackoff as number,
            ...backendFlags(flags, 'Webhook'),
          },
  }
}

function backendFlags(flags: Parsed, name: 'Log' | 'Webhook'): AuditBackendFlags {
  const of = <T>(rest: string) => flags[`audit${name}${rest}`] as T
  const truncate = {
    maxEventBytes: of<number>('TruncateMaxEventSize'),
    maxBatchBytes: of<number>('TruncateMaxBatchSize'),
  }
  if (truncate.maxBatchBytes < truncate.maxEventBytes) {
    const what = `invalid audit truncate ${name.toLowerCase()} max batch size ${truncate.maxBatchBytes}`
    throw new Error(`${what}, must be greater than max event size (${truncate.maxEventBytes})`)
  }
  return {
    mode: of<AuditBackendFlags['mode']>('Mode'),
    batch: {
      bufferSize: of<number>('BatchBufferSize'),
      maxBatchSize: of<number>('BatchMaxSize'),
      maxBatchWaitMs: of<number>('BatchMaxWait'),
      throttle: of<boolean>('BatchThrottleEnable')
        ? { qps: of<number>('BatchThrottleQps'), burst: of<number>('BatchThrottleBurst') }
        : undefined,
    },
    truncate: of<boolean>('TruncateEnabled') ? truncate : undefined,
  }
}
