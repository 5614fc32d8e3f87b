// The types of apps.kruise.io's CloneSets, which Kubernetes' models lack. v1alpha1 is the stored form and has the plain
// names; types that differ in v1beta1 have other names. A structure of both versions is defined once.
import { said } from './fields.mjs'

const field =
  (kind) =>
  (doc, more = {}) => ({ type: { kind }, doc, ...more })
const string = field('string')
const int32 = field('int32')
const int64 = field('int64')
const intOrString = field('intOrString')
const time = field('time')
/** A boolean value with omitempty: false is omitted. */
const flag = (doc) => ({ type: { kind: 'boolean' }, doc, zero: 'omit' })
const struct = (name, doc, more = {}) => ({ type: { kind: 'struct', name }, doc, ...more })
const listOf = (of, doc, more = {}) => ({ type: { kind: 'list', of }, doc, ...more })
const structs = (name) => ({ kind: 'struct', name })
const strings = { kind: 'string' }

const always = { zero: 'emit' }
const omitted = { zero: 'omit' }
const required = { required: true }

const object = {
  apiVersion: string('The version of the schema that this object is written in.'),
  kind: string('What this object is: CloneSet.'),
  metadata: struct('ObjectMeta', "Standard object's metadata."),
}

/** The description of lastUpdateTime in conditions of all kinds with a deadline. */
export const lastUpdate = said(
  'When the condition was updated last. For Progressing that is when the rollout last made progress:',
  'progressDeadlineSeconds count from then.',
)

const count = (doc) => int32(doc, required)

const spec = {
  replicas: int32('How many pods are wanted. Defaults to 1.'),
  selector: struct(
    'LabelSelector',
    'Which pods belong to the set. It has to match the labels of the template, and cannot be changed.',
    {
      ...required,
      ...always,
      nullable: true,
    },
  ),
  template: struct(
    'PodTemplateSpec',
    'What the pods are made from. The only restartPolicy allowed is Always.',
    required,
  ),
  volumeClaimTemplates: listOf(
    structs('PersistentVolumeClaim'),
    'Claims that each pod gets one of its own of. A claim goes with its pod. A change concerns pods that are made after it.',
    { listType: 'atomic' },
  ),
  revisionHistoryLimit: int32('How many revisions are kept besides those in use. Defaults to 10.'),
  minReadySeconds: int32(
    'For how many seconds a pod has to be ready to count as available. Defaults to 0: as soon as it is ready.',
    omitted,
  ),
  lifecycle: struct(
    'CloneSetLifecycle',
    'Hooks that hold a pod at points of its life until somebody else lets it go on.',
  ),
  progressDeadlineSeconds: int32(
    'For how many seconds a rollout may make no progress before the condition Progressing says so with the reason ProgressDeadlineExceeded. The rollout goes on nevertheless. Time for which it is paused, or has got as far as the partition lets it, does not count. Must be greater than minReadySeconds. Defaults to 600; 2147483647 means no deadline.',
  ),
}

const scaling = {
  podsToDelete: listOf(
    strings,
    'Names of pods to delete. Where replicas is not lowered as well, others take their places. Names that are done with are removed by the controller.',
  ),
  maxUnavailable: intOrString(
    'How many pods, or how many percent of replicas, may be unavailable for more to be made when scaling up. Without it all are made at once.',
  ),
  excludePreparingDelete: flag(
    'Whether pods that wait for their preDelete hook are left out when pods are counted for scaling. Defaults to false.',
  ),
}
const disablePVCReuse = flag(
  'Whether the claims of a pod that was deleted by somebody else are deleted too. Otherwise the next pod takes them over. Defaults to false.',
)

const rolling = {
  partition: intOrString(
    'How many pods, or how many percent of replicas, stay at older revisions. Percentages are rounded up. Defaults to 0.',
  ),
  maxUnavailable: intOrString(
    'How many pods, or how many percent of replicas, may be unavailable during an update. Percentages are rounded up, but down where maxSurge is not 0. Defaults to 20%.',
  ),
  maxSurge: intOrString(
    'How many pods, or how many percent of replicas, there may be above replicas during an update. Percentages are rounded up. Defaults to 0.',
  ),
  paused: flag('Whether no pods are updated for now. Replicas are kept up nevertheless.'),
  priorityStrategy: struct('UpdatePriorityStrategy', 'Which pods are updated first.'),
  scatterStrategy: listOf(
    structs('UpdateScatterTerm'),
    'Labels whose bearers are not to be updated all together, but spread over the rollout.',
    { listType: 'atomic' },
  ),
}
const inPlaceUpdate = (type) => ({ inPlaceUpdateStrategy: struct(type, 'How pods are updated in place.') })
const gracePeriodSeconds = int32(
  'For how many seconds a pod is not ready before its images are changed. Defaults to 0.',
  omitted,
)
/** Fields for which a zero differs from a missing value, so it must not be omitted. */
const asInV1alpha1 = (fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, f]) => [
      name,
      { ...f, zero: 'keep', doc: `Taken as v1alpha1 has it, and shown as part of rollingUpdate. ${f.doc}` },
    ]),
  )

const v1alpha1 = { goVersion: 'v1alpha1' }
const v1beta1 = (goName) => ({ goName, goVersion: 'v1beta1' })
const shared = (goName) => ({ goName, goVersion: 'pub' })
const whatItIs =
  'CloneSet keeps a number of like pods running and replaces them, or updates them in place, when their template changes.'

export const cloneSetTypes = {
  CloneSet: {
    ...v1alpha1,
    apiVersion: 'apps.kruise.io/v1alpha1',
    kind: 'CloneSet',
    doc: whatItIs,
    fields: {
      ...object,
      spec: struct('CloneSetSpec', 'What is wanted.', always),
      status: struct('CloneSetStatus', 'What was seen last.', always),
    },
  },
  CloneSetSpec: {
    ...v1alpha1,
    doc: 'CloneSetSpec says what is wanted of a CloneSet.',
    fields: {
      ...spec,
      scaleStrategy: struct('CloneSetScaleStrategy', 'How pods are added and removed.', always),
      updateStrategy: struct('CloneSetUpdateStrategy', 'How pods come to another revision of the template.', always),
    },
  },
  CloneSetScaleStrategy: {
    ...v1alpha1,
    doc: 'CloneSetScaleStrategy says how pods are added and removed.',
    fields: { ...scaling, disablePVCReuse },
  },
  CloneSetUpdateStrategy: {
    ...v1alpha1,
    doc: 'CloneSetUpdateStrategy says how pods come to another revision of the template.',
    fields: {
      type: string(
        'ReCreate deletes pods and makes others. InPlaceIfPossible changes pods where only images, labels or annotations differ, and recreates them otherwise. InPlaceOnly never recreates: other changes of the template are refused. Defaults to ReCreate.',
        { goType: 'v1alpha1.CloneSetUpdateStrategyType' },
      ),
      ...rolling,
      ...inPlaceUpdate('InPlaceUpdateStrategy'),
    },
  },
  V1beta1CloneSet: {
    ...v1beta1('CloneSet'),
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'CloneSet',
    doc: whatItIs,
    fields: {
      ...object,
      spec: struct('V1beta1CloneSetSpec', 'What is wanted.', always),
      status: struct('CloneSetStatus', 'What was seen last.', always),
    },
  },
  V1beta1CloneSetSpec: {
    ...v1beta1('CloneSetSpec'),
    doc: 'CloneSetSpec says what is wanted of a CloneSet.',
    fields: {
      ...spec,
      scaleStrategy: struct('V1beta1CloneSetScaleStrategy', 'How pods are added and removed.', always),
      updateStrategy: struct(
        'V1beta1CloneSetUpdateStrategy',
        'How pods come to another revision of the template.',
        always,
      ),
    },
  },
  V1beta1CloneSetScaleStrategy: {
    ...v1beta1('CloneSetScaleStrategy'),
    doc: 'CloneSetScaleStrategy says how pods are added and removed.',
    fields: {
      ...scaling,
      enablePVCReuse: {
        type: { kind: 'boolean' },
        doc: 'Whether the claims of a pod that was deleted by somebody else are taken over by the next pod. Otherwise they are deleted too. Defaults to false.',
      },
      disablePVCReuse: {
        type: { kind: 'boolean' },
        doc: 'Taken as v1alpha1 has it, and shown as enablePVCReuse, its opposite.',
      },
    },
  },
  V1beta1CloneSetUpdateStrategy: {
    ...v1beta1('CloneSetUpdateStrategy'),
    doc: 'CloneSetUpdateStrategy says how pods come to another revision of the template.',
    fields: {
      type: string(
        'RollingUpdate, which is the only one, and the default. The types of v1alpha1 are taken too, and shown as podUpdatePolicy.',
        { goType: 'v1beta1.CloneSetUpdateStrategyType' },
      ),
      rollingUpdate: struct('RollingUpdateCloneSetStrategy', 'How a rolling update goes.'),
      ...asInV1alpha1({ ...rolling, ...inPlaceUpdate('V1beta1InPlaceUpdateStrategy') }),
    },
  },
  RollingUpdateCloneSetStrategy: {
    ...v1beta1('RollingUpdateCloneSetStrategy'),
    doc: 'RollingUpdateCloneSetStrategy says how a rolling update goes.',
    fields: {
      podUpdatePolicy: string(
        'ReCreate deletes pods and makes others. InPlaceIfPossible changes pods where only images, labels or annotations differ, and recreates them otherwise. InPlaceOnly never recreates: other changes of the template are refused. Defaults to ReCreate.',
        { goType: 'v1beta1.CloneSetPodUpdateStrategyType' },
      ),
      ...rolling,
      ...inPlaceUpdate('V1beta1InPlaceUpdateStrategy'),
    },
  },
  CloneSetStatus: {
    ...v1alpha1,
    doc: 'CloneSetStatus says what was seen of a CloneSet last.',
    fields: {
      observedGeneration: int64('The generation of the set that this status was written for.', omitted),
      replicas: count('How many pods there are.'),
      readyReplicas: count('How many pods are ready.'),
      availableReplicas: count('How many pods have been ready for minReadySeconds.'),
      updatedReplicas: count('How many pods are of the update revision.'),
      updatedReadyReplicas: count('How many pods of the update revision are ready.'),
      updatedAvailableReplicas: int32(
        'How many pods of the update revision have been ready for minReadySeconds.',
        omitted,
      ),
      expectedUpdatedReplicas: int32(
        'How many pods are to be of the update revision: replicas without the partition.',
        omitted,
      ),
      desiredReplicas: int32('The number of replicas that this status was written for.'),
      updateRevision: string('The name of the revision that the template is.'),
      currentRevision: string('The name of the revision that all pods were of last.'),
      collisionCount: int32('How often the name of a revision was taken by another one. Names are made from it.'),
      conditions: listOf(structs('CloneSetCondition'), 'The latest observations of the state of the set.', {
        listType: 'map',
        listMapKeys: ['type'],
        patchStrategy: 'merge',
        patchMergeKey: 'type',
      }),
      labelSelector: string('The selector as text, for autoscalers.'),
    },
  },
  CloneSetCondition: {
    ...v1alpha1,
    doc: 'CloneSetCondition is one thing that is to be said of a CloneSet.',
    fields: {
      type: string('Type of the condition.', { ...required, goType: 'v1alpha1.CloneSetConditionType' }),
      status: string('True, False or Unknown.', { ...required, goType: 'v1.ConditionStatus' }),
      lastUpdateTime: time(lastUpdate),
      lastTransitionTime: time('When the status changed last.'),
      reason: string('Why, as one word.'),
      message: string('Why, for people to read.'),
      progress: struct(
        'ProgressMark',
        'On the condition Progressing: the furthest that the rollout has come since its clock, which is lastUpdateTime, was started. Only what goes beyond it moves the clock.',
      ),
    },
  },
  CloneSetLifecycle: {
    ...shared('Lifecycle'),
    doc: 'Lifecycle has the hooks of pods.',
    fields: {
      preDelete: struct('LifecycleHook', 'Before a pod is deleted by the controller.'),
      inPlaceUpdate: struct('LifecycleHook', 'Before a pod is updated in place, and after it.'),
      preNormal: struct('LifecycleHook', 'After a pod was made, before it counts as available.'),
    },
  },
  LifecycleHook: {
    ...shared('LifecycleHook'),
    doc: 'LifecycleHook says what holds a pod: it is held while it has any of these.',
    fields: {
      labelsHandler: { type: { kind: 'map', of: strings }, doc: 'Labels that hold the pod.' },
      finalizersHandler: listOf(strings, 'Finalizers that hold the pod.'),
      markPodNotReady: flag('Whether the pod is made not ready while it is held before its deletion or update.'),
    },
  },
  UpdatePriorityStrategy: {
    ...shared('UpdatePriorityStrategy'),
    doc: 'UpdatePriorityStrategy says which pods are updated first: by weight or by order, not by both.',
    fields: {
      orderPriority: listOf(
        structs('UpdatePriorityOrderTerm'),
        'Pods are updated by the value of a label: of the first of these that they have.',
        { listType: 'atomic' },
      ),
      weightPriority: listOf(
        structs('UpdatePriorityWeightTerm'),
        'Pods are updated by the sum of the weights whose selector matches, the largest first.',
        { listType: 'atomic' },
      ),
    },
  },
  UpdatePriorityOrderTerm: {
    ...shared('UpdatePriorityOrderTerm'),
    doc: 'UpdatePriorityOrderTerm names a label that pods are ordered by.',
    fields: {
      orderedKey: string("The label. Its values are compared by the last number in them: 10 of 'web-10'.", required),
    },
  },
  UpdatePriorityWeightTerm: {
    ...shared('UpdatePriorityWeightTerm'),
    doc: 'UpdatePriorityWeightTerm gives a weight to pods that match.',
    fields: {
      weight: int32('The weight, from 0 to 100.', required),
      matchSelector: struct('LabelSelector', 'The labels of pods that get it.', required),
    },
  },
  UpdateScatterTerm: {
    ...shared('UpdateScatterTerm'),
    doc: 'UpdateScatterTerm is a label whose bearers are spread over the rollout.',
    fields: { key: string('The name of the label.', required), value: string('The value of the label.', required) },
  },
  InPlaceUpdateStrategy: {
    ...shared('InPlaceUpdateStrategy'),
    doc: 'InPlaceUpdateStrategy says how pods are updated in place.',
    fields: { gracePeriodSeconds },
  },
  V1beta1InPlaceUpdateStrategy: {
    ...v1beta1('InPlaceUpdateStrategy'),
    doc: 'InPlaceUpdateStrategy says how pods are updated in place. What v1alpha1 has annotations for is part of it.',
    fields: {
      gracePeriodSeconds,
      imagePreDownloadParallelism: intOrString(
        'On how many nodes images are to be fetched ahead at a time. Kept, not acted upon.',
      ),
      imagePreDownloadTimeoutSeconds: int32('For how long images may be fetched ahead. Kept, not acted upon.'),
      imagePreDownloadMinUpdatedReadyPods: intOrString(
        'After how many ready updated pods images are fetched ahead. Kept, not acted upon.',
      ),
    },
  },
}
