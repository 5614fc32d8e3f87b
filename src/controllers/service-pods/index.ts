export { addressesOf, belongsToService, findPort, hostnameOf, targetOf } from './serving-pod.ts'
export { headlessLabel, isHeadless, isServedByPods, podConcerns, podsServing, servicesByPod, watchPods } from './service.ts'
export { earliest, readySince, triggerTimeAnnotation } from './trigger-time.ts'
