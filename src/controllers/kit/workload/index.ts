export {
  deadlineExceeded,
  hasDeadline,
  noDeadline,
  partitionReached,
  waitingForDeletion,
} from '../../../api/kinds/workloads/rollout-clock.ts'
export {
  availableAtMs,
  isPodActive,
  isPodAvailable,
  isPodFinished,
  isPodReady,
  isPodTerminating,
  staysWhenDeleted,
} from '../../../api/kinds/pods/pod-availability.ts'
export { millisecondsOf, timestamp } from '../../../api/object.ts'
export {
  type Headway,
  type Rollout,
  announceProgress,
  deadlineInMs,
  decideProgress,
  hasRisen,
  isRolloutSettled,
  secondsText,
} from './progress.ts'
export {
  type Condition,
  type Saying,
  type StoredCondition,
  type Why,
  disruptionPatch,
  disruptionTarget,
  findCondition,
  isConditionTrue,
  nodesWithPod,
  removeCondition,
  sayAvailable,
  setCondition,
  setTimedCondition,
  whyOf,
  withoutConditions,
} from './conditions.ts'
export { isMereBinding, keysSelecting, raisedQuotas, selected, selectedOrphans, selectorIndex } from './watches.ts'
export {
  type ClaimNameOf,
  burst,
  claimsOfTemplates,
  namePrefix,
  podOfTemplate,
  volumesWithClaims,
} from './pod-templates.ts'
export {
  type RevisionStep,
  compareText,
  contentHashLabel,
  hashOf,
  inHistory,
  reviseTo,
  revisionHashLabel,
  revisionName,
  RevisionTakenError,
  surplusRevisions,
} from './revisions.ts'
export { endsProgress, isFault, isUntried, podFaultOf, refusalOf, sameWords, withFault } from './pod-fault.ts'
export { byNode, podsByClaim, podsByLabel, podsOfClaim, podsOnNode, selectedPods } from './pod-indexes.ts'
export { type Rank, byDeletionRank, compareRanks, podsByNode, rankChangesAtMs, rankOf } from './ranking.ts'
export { type Causes, type Finders, causeReader, findersOf, noCauses, nodeFinder } from './causes.ts'
