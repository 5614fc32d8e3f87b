import type { FlowSchema, FlowSchemaCondition, PriorityLevelConfiguration } from '../../api/generated/types.ts'
import { isConflict, isNotFound } from '../../api/errors.ts'
import { timestamp } from '../../api/object.ts'
import type { Logger } from '../../base/logger.ts'
import type { ServerParts } from '../requests/request.ts'
import type { Fairness } from './fairness.ts'

const group = 'flowcontrol.apiserver.k8s.io'
/** Marks the objects that every server creates. */
const ownAnnotation = 'apf.kubernetes.io/autoupdate-spec'

/** The Dangling condition: whether the schema's level exists. */
function danglingCondition(
  { spec }: FlowSchema,
  levels: ReadonlySet<string>,
): Omit<FlowSchemaCondition, 'lastTransitionTime'> {
  const { name } = spec.priorityLevelConfiguration
  const isThere = levels.has(name)
  const named = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(name)}`
  return {
    type: 'Dangling',
    status: isThere ? 'False' : 'True',
    reason: isThere ? 'Found' : 'NotFound',
    message: `${named} ${isThere ? 'and it exists' : 'but there is no such object'}`,
  }
}

/** The delay before statuses are written, so that a user who creates a schema and then its level causes no conflict. */
const gatherMs = 1000

const told = ({ status }: FlowSchema) => status.conditions?.find(({ type }) => type === 'Dangling')

/**
 * Applies schemas and levels as they change, and maintains the schemas' Dangling condition. Resolves when the server's
 * own schemas have it.
 */
export async function followFlowObjects(parts: ServerParts, fairness: Fairness, logger: Logger): Promise<void> {
  const { access, clock, registry } = parts
  const place = registry.stored(group, 'flowschemas')
  if (!place) return
  const schemas = () => access.list<FlowSchema>(group, 'flowschemas', '')
  const levels = () => access.list<PriorityLevelConfiguration>(group, 'prioritylevelconfigurations', '')

  const write = async (name: string): Promise<void> => {
    try {
      await access.update<FlowSchema>(place.resource, '', name, (copy) => {
        const condition = danglingCondition(copy, new Set(levels().map(({ metadata }) => metadata.name ?? '')))
        const before = told(copy)
        const since = before?.status === condition.status ? before?.lastTransitionTime : undefined
        const others = copy.status.conditions?.filter(({ type }) => type !== 'Dangling') ?? []
        copy.status.conditions = [...others, { ...condition, lastTransitionTime: since ?? timestamp(clock.now()) }]
        return copy
      })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error))
        logger.warn('failed to update the status of a FlowSchema', { name, error })
    }
  }

  const stale = (): FlowSchema[] => {
    const names = new Set(levels().map(({ metadata }) => metadata.name ?? ''))
    const isStale = (schema: FlowSchema) => {
      const [is, wanted] = [told(schema), danglingCondition(schema, names)]
      return is?.status !== wanted.status || is?.message !== wanted.message
    }
    return schemas().filter(isStale)
  }
  const sync = (found: readonly FlowSchema[]) => Promise.all(found.map(({ metadata }) => write(metadata.name ?? '')))

  let isDue = false
  const changed = () => {
    fairness.configure(schemas(), levels())
    if (isDue || stale().length === 0) return
    isDue = true
    clock.after(gatherMs, () => {
      isDue = false
      void sync(stale())
    })
  }
  // Conditions of the server's own schemas are written before startup completes, so that a started server is quiet.
  await sync(stale().filter((schema) => !told(schema) && schema.metadata.annotations?.[ownAnnotation]))
  changed()
  access.follow(group, 'flowschemas', changed)
  access.follow(group, 'prioritylevelconfigurations', changed)
}
