import { expect, it } from 'vitest'
import { announceProgress } from './announce.ts'
import type { Condition } from './conditions.ts'

const progressing = (status: string, reason: string, over: Partial<Condition> = {}): { conditions: Condition[] } => ({
  conditions: [{ type: 'Progressing', status, reason, message: 'm', lastUpdateTime: 'then', progress: { revision: 'a' }, ...over }],
})
const exceeded = progressing('False', 'ProgressDeadlineExceeded')

it.each<[string, ReturnType<typeof progressing> | undefined, ReturnType<typeof progressing>, string[]]>([
  ['a deadline that passes', progressing('True', 'ReplicasUpdated'), exceeded, ['Warning ProgressDeadlineExceeded: m']],
  ['the same again', exceeded, exceeded, []],
  ['a rollout that is complete', progressing('True', 'ReplicasUpdated'), progressing('True', 'NewRevisionAvailable'), ['Normal RolloutComplete: m']],
  ['one that is complete from the start', undefined, progressing('True', 'NewReplicaSetAvailable'), ['Normal RolloutComplete: m']],
  ['one that goes on', exceeded, progressing('True', 'ReplicasUpdated', { lastUpdateTime: 'now' }), ['Normal RolloutRecovered: The rollout makes progress again.']],
  ['a deadline that was raised', exceeded, progressing('True', 'ReplicasUpdated'), []],
  ['another rollout that begins', exceeded, progressing('True', 'NewRevisionCreated', { lastUpdateTime: 'now' }), []],
  ['another revision that moves', exceeded, progressing('True', 'ReplicaSetUpdated', { lastUpdateTime: 'now', progress: { revision: 'b' } }), []],
  ['a rollout that is held', progressing('True', 'ReplicasUpdated'), progressing('True', 'PartitionReached'), []],
])('announceProgress(): %s', (_, before, after, expected) => {
  const told: string[] = []
  announceProgress({ event: (type, reason, message) => told.push(`${type} ${reason}: ${message}`) }, before, after)
  expect(told).toEqual(expected)
})
