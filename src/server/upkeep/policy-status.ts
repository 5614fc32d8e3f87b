import { isConflict, isNotFound } from '../../api/errors.ts'
import type { ValidatingAdmissionPolicy } from '../../api/generated/types.ts'
import type { Logger } from '../../base/logger.ts'
import { typeWarnings } from '../admission/policies/type-checking.ts'
import type { ServerParts } from '../requests/request.ts'

const group = 'admissionregistration.k8s.io'
const plural = 'validatingadmissionpolicies'

/** The delay before a status update, so that a client can change a new policy without a conflict. */
const gatherMs = 1000

const isStale = ({ metadata, status }: ValidatingAdmissionPolicy): boolean =>
  (metadata.generation ?? 0) > (status.observedGeneration ?? 0)

/** Type-checks each policy after a change of its spec, and writes the warnings to its status. */
export function keepPolicyStatus({ access, registry, clock }: ServerParts, logger: Logger): () => void {
  const place = registry.stored(group, plural)
  if (!place) return () => {}
  let isEnded = false
  let isDue = false

  const write = async (name: string): Promise<void> => {
    try {
      await access.update<ValidatingAdmissionPolicy>(
        place.resource,
        '',
        name,
        (copy, stored) => {
          if (!isStale(copy)) return stored
          const expressionWarnings = typeWarnings(copy, registry)
          const typeChecking = expressionWarnings.length ? { expressionWarnings } : {}
          copy.status = { ...copy.status, observedGeneration: copy.metadata.generation, typeChecking }
          return copy
        },
        { isStatus: true },
      )
    } catch (error) {
      if (!isEnded && !isNotFound(error) && !isConflict(error))
        logger.warn('failed to update the status of a policy', { name, error })
    }
  }

  const wake = () => {
    if (isDue || isEnded) return
    isDue = true
    clock.after(gatherMs, () => {
      isDue = false
      if (isEnded) return
      const stale = access.list<ValidatingAdmissionPolicy>(group, plural, '').filter(isStale)
      for (const { metadata } of stale) void write(metadata.name!)
    })
  }

  if (access.list<ValidatingAdmissionPolicy>(group, plural, '').some(isStale)) wake()
  access.follow(group, plural, ({ object }) => {
    const policy = object() as ValidatingAdmissionPolicy | undefined
    if (policy && isStale(policy)) wake()
  })
  return () => {
    isEnded = true
  }
}
