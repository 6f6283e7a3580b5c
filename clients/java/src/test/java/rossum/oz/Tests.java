package rossum.oz;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Objects;
import java.util.concurrent.Callable;

/** As much of a test framework as the tests need: runs the public methods of a class without arguments. */
public final class Tests {
    private Tests() {}

    /** Runs the tests of a class, each with a new instance. Throws the first failure. */
    public static void run(Class<?> tests) throws Exception {
        for (Method test : tests.getDeclaredMethods()) {
            if (!Modifier.isPublic(test.getModifiers()) || Modifier.isStatic(test.getModifiers())) {
                continue;
            }
            try {
                test.invoke(tests.getDeclaredConstructor().newInstance());
            } catch (InvocationTargetException failure) {
                throw new AssertionError(tests.getSimpleName() + "." + test.getName() + " fails", failure.getCause());
            }
            System.err.println(tests.getSimpleName() + "." + test.getName() + " ok");
        }
    }

    /** Fails unless both are equal. */
    public static void equal(Object found, Object wanted) {
        if (!Objects.equals(found, wanted)) {
            throw new AssertionError("found " + found + " instead of " + wanted);
        }
    }

    /** Fails unless this throws an exception of that type, which it returns. */
    public static <E extends Throwable> E fails(Class<E> type, Callable<?> action) {
        try {
            action.call();
        } catch (Throwable error) {
            if (type.isInstance(error)) {
                return type.cast(error);
            }
            throw new AssertionError("an error of another type", error);
        }
        throw new AssertionError("no " + type.getSimpleName());
    }
}
