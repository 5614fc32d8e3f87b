import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { addAuditFlags, readAuditFlags } from './audit-flags.ts'

function read(...args: string[]) {
  const command = addAuditFlags(new Command('x').exitOverride().configureOutput({ writeErr: () => {} }))
  command.parse(args, { from: 'user' })
  return readAuditFlags(command.opts())
}

describe('the flags of audit', () => {
  it('mean nothing without a policy', () => {
    expect(read('--audit-log-path', '-')).toBeUndefined()
  })

  it("have Kubernetes' defaults", () => {
    const batch = { bufferSize: 10_000, maxBatchSize: 1, maxBatchWaitMs: 1, throttle: undefined }
    const log = {
      path: 'a.log',
      maxAgeMs: 0,
      maxBackups: 0,
      maxBytes: 100 * 1024 * 1024,
      mode: 'blocking',
      batch,
      truncate: undefined,
    }
    const webhook = {
      configFile: 'k',
      initialBackoffMs: 10_000,
      mode: 'batch',
      truncate: undefined,
      batch: { bufferSize: 10_000, maxBatchSize: 400, maxBatchWaitMs: 30_000, throttle: { qps: 10, burst: 15 } },
    }
    expect(read('--audit-policy-file', 'p')).toEqual({ policyFile: 'p', log: undefined, webhook: undefined })
    expect(read('--audit-policy-file', 'p', '--audit-log-path', 'a.log', '--audit-webhook-config-file', 'k')).toEqual({
      policyFile: 'p',
      log,
      webhook,
    })
  })

  it('are read', () => {
    const flags = [
      'maxage',
      '7',
      'maxbackup',
      '3',
      'maxsize',
      '5',
      'mode',
      'blocking-strict',
      'truncate-max-event-size',
      '1000',
      'batch-throttle-qps',
      '0.5',
    ]
    const named = flags.map((flag, i) => (i % 2 === 0 ? `--audit-log-${flag}` : flag))
    const options = read(
      '--audit-policy-file',
      'p',
      '--audit-log-path',
      '-',
      ...named,
      '--audit-log-truncate-enabled',
      '--audit-log-batch-throttle-enable',
    )
    expect(options!.log).toMatchObject({
      maxAgeMs: 7 * 86_400_000,
      maxBackups: 3,
      maxBytes: 5 * 1024 * 1024,
      mode: 'blocking-strict',
      truncate: { maxEventBytes: 1000, maxBatchBytes: 10_485_760 },
      batch: { throttle: { qps: 0.5, burst: 15 } },
    })
  })

  it.each([
    ['a mode that there is not', ['--audit-log-mode', 'quick'], /Allowed choices are batch, blocking, blocking-strict/],
    ['a buffer of nothing', ['--audit-log-batch-buffer-size', '0'], /must be a number from 1/],
    [
      'batches that are smaller than events',
      ['--audit-log-path', '-', '--audit-log-truncate-max-batch-size', '10'],
      /^invalid audit truncate log max batch size 10, must be greater than max event size \(102400\)$/,
    ],
  ])('refuse %s', (_what, args, message) => {
    expect(() => read('--audit-policy-file', 'p', ...args)).toThrow(message)
  })
})
