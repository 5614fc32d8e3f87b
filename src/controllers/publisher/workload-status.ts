import type { ProgressMark } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { WorkloadCondition } from '../../api/kinds/workloads/rollout-clock.ts'
import { resourceType } from '../../client/index.ts'

/** Values of the last published status that the next evaluation needs. Stock types have no fields for them. */
export interface RolloutState {
  updateRevision?: string
  desiredReplicas?: number
  expectedUpdatedReplicas?: number
  desiredNumberScheduled?: number
}

/** The companion of a workload whose own status cannot hold its conditions: same namespace, same name. */
export interface WorkloadStatus extends KubeObject {
  spec: { workloadRef: { apiVersion: string; kind: string; name: string } }
  status?: RolloutState & {
    /**
     * The evaluated generation of the workload. It is not named `observedGeneration`, which `kubectl wait` would
     * compare with the generation of the companion.
     */
    workloadGeneration?: number
    conditions?: WorkloadCondition[]
  }
}

export const workloadstatuses = resourceType<WorkloadStatus>({
  group: 'coxswain.dev',
  version: 'v1alpha1',
  plural: 'workloadstatuses',
  kind: 'WorkloadStatus',
  namespaced: true,
})

const text = { type: 'string' }
const time = { type: 'string', format: 'date-time' }
const count = { type: 'integer', format: 'int32' }

const progress: Record<keyof ProgressMark, object> = {
  revision: text,
  desiredReplicas: count,
  updatedReplicas: count,
  readyReplicas: count,
  availableReplicas: count,
  oldReplicas: count,
}

const condition = {
  type: 'object',
  required: ['type', 'status'],
  properties: {
    type: text,
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: text,
    message: text,
    lastTransitionTime: time,
    lastUpdateTime: { ...time, description: 'The clock of the progress deadline.' },
    progress: {
      type: 'object',
      description: 'The furthest that the rollout has come since its clock was started.',
      properties: progress,
    },
  },
}

const conditionField = (type: string, field: string): string => `.status.conditions[?(@.type=="${type}")].${field}`

/** The definition that clusters need for companions. */
export const workloadStatusDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'workloadstatuses.coxswain.dev' },
  spec: {
    group: workloadstatuses.group,
    scope: 'Namespaced',
    names: {
      plural: 'workloadstatuses',
      singular: 'workloadstatus',
      kind: 'WorkloadStatus',
      listKind: 'WorkloadStatusList',
      shortNames: ['workloads', 'wls'],
    },
    versions: [
      {
        name: workloadstatuses.version,
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'Kind', type: 'string', jsonPath: '.spec.workloadRef.kind' },
          { name: 'Available', type: 'string', jsonPath: conditionField('Available', 'status') },
          { name: 'Progressing', type: 'string', jsonPath: conditionField('Progressing', 'reason') },
          { name: 'Message', type: 'string', jsonPath: conditionField('Available', 'message') },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description:
              'WorkloadStatus has the conditions of a workload whose own status cannot hold them. Publishers write it; it goes with its workload.',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['workloadRef'],
                properties: {
                  workloadRef: {
                    type: 'object',
                    required: ['apiVersion', 'kind', 'name'],
                    properties: { apiVersion: text, kind: text, name: text },
                  },
                },
              },
              status: {
                type: 'object',
                properties: {
                  workloadGeneration: {
                    type: 'integer',
                    format: 'int64',
                    description: 'The generation of the workload that was judged.',
                  },
                  updateRevision: text,
                  desiredReplicas: count,
                  expectedUpdatedReplicas: count,
                  desiredNumberScheduled: count,
                  conditions: {
                    type: 'array',
                    items: condition,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
} as const
