import type { AnswerOf } from '@nebula/client';

/** Something that waits for a person. */
export type Task = AnswerOf<'listHumanTasks'>['items'][number];
