import type { Clock } from '../../base/clock.ts'
import { readLog } from '../logs/index.ts'
import { messagePolicyAnnotation, podUidLabel } from '../runtime/labels.ts'
import type { ContainerStatus } from '../runtime/runtime.ts'
import type { VolumeManager } from '../volumes/volume-manager.ts'

/** Kubernetes' limits: of a note, and of what a log has to say instead. */
const mostNoteBytes = 4096
const mostLogBytes = 2048
const mostLogLines = 80

/** Why a container has ended, in its own words: what it wrote to its termination message path, or, if it wants so and ended badly, the end of its log. */
export async function lastWordsOf(status: ContainerStatus, volumes: VolumeManager, clock: Clock): Promise<string> {
  const { labels, annotations, metadata, exitCode, logPath, message } = status
  const note = await volumes.readNote(labels[podUidLabel] ?? '', metadata.name, metadata.attempt, mostNoteBytes)
  const isLogToSpeak = note === '' && exitCode !== 0 && annotations[messagePolicyAnnotation] === 'FallbackToLogsOnError'
  const words = isLogToSpeak ? await endOfLog(logPath, clock) : note
  return [message, words].filter((part) => part !== '').join(': ')
}

async function endOfLog(file: string, clock: Clock): Promise<string> {
  const options = { follow: false, previous: false, timestamps: false, tailLines: mostLogLines, sinceMs: undefined, limitBytes: undefined, stream: 'All' } as const
  let end = Buffer.alloc(0)
  for await (const piece of readLog(file, options, { clock, isWritten: () => false, signal: new AbortController().signal })) {
    const all = Buffer.concat([end, piece])
    end = all.subarray(Math.max(0, all.length - mostLogBytes))
  }
  return end.toString('utf8')
}
