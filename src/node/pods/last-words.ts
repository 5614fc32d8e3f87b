import type { Clock } from '../../base/clock.ts'
import { readLog } from '../logs/index.ts'
import { messagePolicyAnnotation, podUidLabel } from '../runtime/labels.ts'
import type { ContainerStatus } from '../runtime/runtime.ts'
import type { VolumeManager } from '../volumes/volume-manager.ts'

/** Kubernetes' limits for a termination message, and for the part of a log that replaces it. */
const mostNoteBytes = 4096
const mostLogBytes = 2048
const mostLogLines = 80

/**
 * The termination message of a container: the contents of its terminationMessagePath, or, with the policy
 * FallbackToLogsOnError after a failure, the end of its log.
 */
export async function lastWordsOf(status: ContainerStatus, volumes: VolumeManager, clock: Clock): Promise<string> {
  const { labels, annotations, metadata, exitCode, logPath, message } = status
  const note = await volumes.readNote(labels[podUidLabel] ?? '', metadata.name, metadata.attempt, mostNoteBytes)
  const isLogToSpeak = note === '' && exitCode !== 0 && annotations[messagePolicyAnnotation] === 'FallbackToLogsOnError'
  const words = isLogToSpeak ? await endOfLog(logPath, clock) : note
  return [message, words].filter((part) => part !== '').join(': ')
}

async function endOfLog(file: string, clock: Clock): Promise<string> {
  const options = {
    follow: false,
    previous: false,
    timestamps: false,
    tailLines: mostLogLines,
    sinceMs: undefined,
    limitBytes: undefined,
    stream: 'All',
  } as const
  let end = Buffer.alloc(0)
  for await (const piece of readLog(file, options, {
    clock,
    isWritten: () => false,
    signal: new AbortController().signal,
  })) {
    const all = Buffer.concat([end, piece])
    end = all.subarray(Math.max(0, all.length - mostLogBytes))
  }
  return end.toString('utf8')
}
