/** What was asked for could not be done. Its message is for people and shows no secret. */
export class CommandFailedError extends Error {}
